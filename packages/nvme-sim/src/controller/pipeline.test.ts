import { describe, expect, it } from 'vitest'
import { transfer } from '../../conformance/raw-host/entry.js'
import { ASQ, CC, CC_ENABLED, CFS, CSTS, RDY } from '../../conformance/raw-host/registers.js'
import { prps, ready, TestHost } from '../../test/host.js'
import { deriveProfile } from '../index.js'

const MS = 1e6
const FLUSH = { opcode: 0x00, nsid: 1 }
const always = (ns: number) => [ns, ns, ns, ns, ns] as const

describe('deleting a submission queue', () => {
  it('completes each of its commands once, including one whose completion a fault delays', async () => {
    const host = await ready({
      faults: {
        rules: [
          { match: { qid: 1, nth: 1 }, action: { kind: 'hang' } },
          { match: { qid: 1, nth: 2 }, action: { kind: 'reorder-completion', behind: 1, atMostNs: 30e9 } },
        ],
      },
    })
    for (const cid of [1, 2]) host.submit(1, { ...FLUSH, cid })
    await host.pass(MS)
    expect(host.poll(1)).toEqual([])
    await host.admin({ opcode: 0x00, cdw: { 10: 1 } })
    expect(host.poll(1).map(({ cid, status }) => [cid, status])).toEqual([
      [1, '0/08'],
      [2, '0/00'],
    ])
    await host.createSq(1, 64, 1)
    for (let cid = 100; cid < 120; cid++) host.submit(1, { ...FLUSH, cid })
    await host.pass(MS)
    expect(host.poll(1).map(({ cid }) => cid)).toEqual(Array.from({ length: 20 }, (_, i) => 100 + i))
  })

  it('unblocks other queues of the completion queue that its completions had filled', async () => {
    const host = await ready()
    await host.createCq(2, 2)
    await host.createSq(2, 8, 2)
    await host.createSq(3, 8, 2)
    for (const [qid, cid] of [
      [2, 1],
      [2, 2],
      [3, 3],
    ] as const) {
      host.submit(qid, { ...FLUSH, cid })
      await host.pass(MS)
    }
    await host.admin({ opcode: 0x00, cdw: { 10: 2 } })
    expect(host.poll(2).map(({ cid }) => cid)).toEqual([1])
    await host.pass(MS)
    expect(host.poll(2).map(({ sqid, cid }) => [sqid, cid])).toEqual([[3, 3]])
  })
})

describe('between CC.EN = 1 and CSTS.RDY = 1', () => {
  async function enabling() {
    const host = new TestHost({ profile: 'sn740' })
    host.placeAdminQueues()
    host.bar.write32(CC, CC_ENABLED)
    await host.pass(MS)
    return { host, cq: host.cqs.get(0)! }
  }

  it('a write to ASQ does not move the Admin queue', async () => {
    const { host } = await enabling()
    host.bar.write64(ASQ, 0x1000n)
    await host.pass(1e9)
    expect(host.bar.read32(CSTS)).toBe(RDY)
    expect((await host.admin({ opcode: 0x0a, cdw: { 10: 0x07 } })).status).toBe('0/00')
    expect(host.simulation.diagnostics).toHaveLength(2)
  })

  it('CSTS.CFS is set if the host frees Admin queue memory', async () => {
    const { host, cq } = await enabling()
    cq.memory.free()
    await host.pass(1e9)
    expect(host.bar.read32(CSTS)).toBe(CFS)
  })
})

it('after CSTS.CFS = 1, neither waiting completions nor events are posted', async () => {
  const host = await ready({ faults: { rules: [{ match: { atNs: MS }, action: { kind: 'fatal-status' } }] } })
  await host.createCq(2, 2)
  await host.createSq(2, 8, 2)
  host.submit(0, { opcode: 0x0c })
  for (const cid of [1, 2, 3]) host.submit(2, { ...FLUSH, cid })
  await host.pass(2 * MS)
  expect(host.bar.read32(CSTS)).toBe(RDY | CFS)
  expect(host.poll(2).map(({ cid }) => cid)).toEqual([1])
  // A doorbell write for a queue that does not exist would raise an event.
  host.ringTail(60, 1)
  await host.pass(MS)
  expect([...host.poll(2), ...host.poll(0)]).toEqual([])
})

it('Admin commands are executed while I/O commands occupy all slots', async () => {
  const profile = deriveProfile('ideal', { commandSlots: 4 })
  const host = await ready({ profile, faults: { rules: [{ match: { qid: 1 }, action: { kind: 'hang' } }] } })
  for (let cid = 0; cid < 6; cid++) host.stage(1, { ...FLUSH, cid })
  host.ringTail(1)
  await host.pass(MS)
  expect((await host.admin({ opcode: 0x08, cdw: { 10: 1 | (3 << 16) } })).dw0).toBe(0)
  expect(host.poll(1).map(({ cid, status }) => [cid, status])).toEqual([[3, '0/07']])
  expect((await host.admin({ opcode: 0x00, cdw: { 10: 1 } })).status).toBe('0/00')
})

it('commandSlots limits the commands in progress, also after fused operations', async () => {
  const profile = deriveProfile('ideal', { commandSlots: 1, readNs: always(MS), writeNs: always(MS), mediaUnits: 64 })
  const host = await ready({ profile })
  const data = prps(host, host.alloc(512))
  const fused = async (pairs: number) => {
    for (let i = 0; i < pairs; i++) {
      host.stage(1, { ...transfer(0x02, 0, 1, data), opcode: 0x05, cdw: { 0: 1 << 8, 10: 0, 12: 0 } })
      host.stage(1, { ...transfer(0x01, 0, 1, data), cdw: { 0: 2 << 8, 10: 0, 12: 0 } })
    }
    host.ringTail(1)
    await host.collect(1, 2 * pairs)
  }
  const tenReads = async () => {
    const startNs = host.clock.now()
    for (let i = 0; i < 10; i++) host.stage(1, transfer(0x02, 0, 1, data))
    host.ringTail(1)
    await host.collect(1, 10)
    return host.clock.now() - startNs
  }
  expect(await tenReads()).toBe(10 * MS)
  await fused(5)
  expect(await tenReads()).toBe(10 * MS)
})

it('no command is in progress when CSTS.SHST is 10b: an unfinished Write is aborted', async () => {
  const host = await ready({ profile: deriveProfile('ideal', { shutdownNs: 1000, writeNs: always(MS) }) })
  const memory = host.alloc(4096)
  const cid = host.submit(1, transfer(0x01, 0, 8, prps(host, memory)))
  await host.pass(100)
  host.bar.write32(CC, 0x0046_4001)
  await host.until(() => ((host.bar.read32(CSTS) >> 2) & 3) === 2)
  expect(host.poll(1).map((completed) => [completed.cid, completed.status])).toEqual([[cid, '0/05']])
  await host.pass(10 * MS)
  expect(host.poll(1)).toEqual([])
})
