import { expect, it } from 'vitest'
import { CC, CC_ENABLED } from '../../conformance/raw-host/registers.js'
import { CachedMedia } from '../../dst/cached-media.js'
import { ready, type TestHost } from '../../test/host.js'
import { readMarked, writeMarked } from '../../test/nvm.js'

const SHN_NORMAL = 1 << 14

/** Returns a host whose media loses its cache in a power loss, and a function that simulates one. */
async function hostWithCache() {
  const media = new CachedMedia(512 * 64)
  const host = await ready({ namespaces: [{ media }] })
  const losePower = async () => {
    host.simulation.powerCycle()
    media.losePower(() => true)
    host.forgetRings()
    await host.enable()
    await host.createPair(1, 16)
  }
  return { host, losePower }
}

it('Format NVM: old data does not return if power is lost after the completion', async () => {
  const { host, losePower } = await hostWithCache()
  await writeMarked(host, 3, [0x11, 0x22])
  expect((await host.command(1, { opcode: 0x00, nsid: 1 })).status).toBe('0/00')
  expect((await host.admin({ opcode: 0x80, nsid: 1, cdw: { 10: 0 } })).status).toBe('0/00')
  await losePower()
  expect(await readMarked(host, 3, 2)).toEqual([0, 0])
})

/** Attaches namespace 1 to the controller (0), or detaches it (1). */
async function attachment(host: TestHost, select: 0 | 1): Promise<void> {
  const list = host.alloc(4096)
  list.view.setUint16(0, 1, true)
  const entry = { opcode: 0x15, nsid: 1, prp1: list.iovaAt(0), cdw: { 10: select } }
  expect((await host.admin(entry)).status).toBe('0/00')
}

it.each<[string, (host: TestHost) => Promise<unknown>]>([
  [
    'a shutdown (Base 2.1 §3.6.1)',
    (host) => {
      host.bar.write32(CC, CC_ENABLED | SHN_NORMAL)
      return host.waitForStatus(0b1100, 0b1000, 'shutdown')
    },
  ],
  ['disabling the volatile write cache', (host) => host.admin({ opcode: 0x09, cdw: { 10: 0x06, 11: 0 } })],
])('%s makes the data of a detached namespace durable', async (_, makePermanent) => {
  const { host, losePower } = await hostWithCache()
  await writeMarked(host, 3, [0x11])
  await attachment(host, 1)
  await makePermanent(host)
  await losePower()
  await attachment(host, 0)
  expect(await readMarked(host, 3, 1)).toEqual([0x11])
})
