import { expect, it } from 'vitest'
import { CC, CSTS, RDY } from '../../conformance/raw-host/registers.js'
import { enabled, ready } from '../../test/host.js'

const ALL_ONES = 0xffff_ffff
const FLUSH = { opcode: 0x00, nsid: 1 }

it('a doorbell write of a peer reaches the controller: posted writes pass', async () => {
  const host = await ready()
  host.stage(1, FLUSH)
  host.simulation.peerBar.write32(0x1008, 1)
  expect((await host.collect(1, 1)).map(({ status }) => status)).toEqual(['0/00'])
  expect(host.simulation.transport.can).toMatchObject({ gpuRing: true, gpuRead: false })
})

it('a read of a peer returns all ones, and repeated reads drop the link for all until a bus reset', async () => {
  const host = await ready()
  const { peerBar, transport } = host.simulation
  expect([peerBar.read32(CSTS), peerBar.read64(0)]).toEqual([ALL_ONES, 0xffff_ffff_ffff_ffffn])
  expect(host.bar.read32(CSTS)).toBe(RDY)
  expect(peerBar.read32(CSTS)).toBe(ALL_ONES)
  expect([host.bar.read32(CSTS), transport.config!.read(0, 4)]).toEqual([ALL_ONES, ALL_ONES])
  await transport.reset!('function')
  expect(host.bar.read32(CSTS)).toBe(ALL_ONES)
  await transport.reset!('bus')
  expect([host.bar.read32(CSTS), host.bar.read32(CC)]).toEqual([0, 0])
  host.cqs.clear()
  host.sqs.clear()
  expect(await host.enable()).toBe(RDY)
  // The new link survives as many reads as the first.
  peerBar.read32(CSTS)
  expect(host.bar.read32(CSTS)).toBe(RDY)
})

it('no completion reaches host memory after the link has dropped', async () => {
  const host = await ready({ profile: 'sn740', rootComplex: { survivableReads: 0 } })
  host.submit(1, FLUSH)
  await host.pass(5000)
  host.simulation.peerBar.read32(CSTS)
  await host.pass(1e9)
  expect(host.poll(1)).toEqual([])
})

it("the root complex 'full' completes reads of a peer", async () => {
  const host = await enabled({ rootComplex: 'full' })
  for (let i = 0; i < 10; i++) expect(host.simulation.peerBar.read32(CSTS)).toBe(RDY)
  expect(host.simulation.transport.can).toMatchObject({ gpuRing: true, gpuRead: true })
})

it('a root complex without peer writes drops doorbell writes of a peer', async () => {
  const host = await ready({ rootComplex: { peerWrites: false } })
  host.stage(1, FLUSH)
  host.simulation.peerBar.write32(0x1008, 1)
  expect(await host.until(() => host.poll(1).length > 0, 1e9)).toBe(false)
  expect(host.simulation.transport.can.gpuRing).toBe(false)
  expect(host.simulation.diagnostics).toEqual([])
})
