// Speed of reads from several drives, in virtual time: the ratios do not depend on the machine.
import { namespaceStore } from '@gpunvme/layer-loader/store'
import { createMirror, createStripe } from '@gpunvme/layer-loader/sets'
import { Controller } from '@gpunvme/host-driver'
import { deriveProfile, profiles, RamMedia, simulate, SimulatedHost } from '@gpunvme/nvme-sim'

const MIB = 1024 * 1024

/** Size of a layer of a large model. */
const READ_BYTES = 96 * MIB
const PASSES = 4

export async function bench() {
  const slow = deriveProfile('sn740', {
    name: 'a slow sn740',
    readBytesPerSecond: profiles.sn740.readBytesPerSecond / 8,
  })
  const stripe = await rates(['sn740', 'sn740'], createStripe)
  const mirror = await rates(['sn740', 'sn740'], createMirror)
  const uneven = await rates(['sn740', slow], createMirror)
  const gbs = ({ set, first }) => `${set.toFixed(2)} and ${first.toFixed(2)} GB/s`
  const what = `${READ_BYTES / MIB} MiB per read, modelled time`
  return [
    {
      name: 'Modelled: a stripe of two equal drives (`sn740`), compared with one of them',
      value: stripe.set / stripe.first,
      unit: '×',
      goal: '≥ 1.9 ×',
      met: stripe.set / stripe.first >= 1.9,
      note: `${gbs(stripe)}; ${what}`,
    },
    {
      name: 'Modelled: a mirror of two equal drives, compared with one of them',
      value: mirror.set / mirror.first,
      unit: '×',
      note: `${gbs(mirror)}; ${what}`,
    },
    {
      name: 'Modelled: slowest read of a mirror with one drive 8 times slower, compared with the fast drive alone',
      value: uneven.slowest,
      unit: '×',
      goal: '≥ 1 ×',
      met: uneven.slowest >= 1,
      note: `on average ${gbs(uneven)}; ${what}`,
    },
  ]
}

/** Returns GB/s of a set and of its first drive, and the ratio of the drive's fastest to the set's slowest read. */
async function rates(kinds, create) {
  const host = new SimulatedHost()
  const stores = []
  for (const [index, profile] of kinds.entries()) {
    const media = new RamMedia(256 * MIB)
    const { transport } = simulate({ host, profile, seed: index + 1, namespaces: [{ media }] })
    const { serial } = await identityOf(host, profile)
    const controller = await Controller.open(transport, { write: { serial } })
    stores.push(namespaceStore(controller.namespace(1)))
  }
  const set = await create(stores)
  const alone = await timesOf(stores[0])
  const together = await timesOf(set)
  const gbs = (times) => (READ_BYTES * times.length) / times.reduce((sum, ns) => sum + ns, 0)
  return { set: gbs(together), first: gbs(alone), slowest: Math.min(...alone) / Math.max(...together) }
}

async function identityOf(host, profile) {
  const controller = await Controller.open(simulate({ host, profile }).transport)
  const { identity } = controller
  await controller.close()
  return identity
}

async function timesOf(store) {
  const memory = store.dma.alloc(READ_BYTES)
  const times = []
  for (let pass = 0; pass < PASSES; pass++) {
    const startNs = store.clock.now()
    await store.read([{ offsetBytes: 0, lengthBytes: READ_BYTES, memoryBytes: 0 }], memory)
    times.push(store.clock.now() - startNs)
  }
  memory.free()
  return times
}
