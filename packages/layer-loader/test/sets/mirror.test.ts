import { deriveProfile, RamMedia } from '@gpunvme/nvme-sim'
import type { FaultRule } from '@gpunvme/nvme-spec/transport'
import { describe, expect, test } from 'vitest'
import { openImage, streamLayers } from '../../src/index.js'
import { pack, verifyImage } from '../../src/image/index.js'
import { createMirror, openSet, type BlockSet, type SetProblem } from '../../src/sets/index.js'
import { layeredModel, tensorBytes } from '../models.js'
import { altered, drives, get, MIB, mirrored, noise, put } from './drives.js'

/** Constant latencies, so that times can be compared. */
const steady = {
  readNs: [70_000, 70_000, 70_000, 70_000, 70_000],
  controllerNs: [5000, 5000, 5000, 5000, 5000],
} as const
const fast = deriveProfile('sn740', { name: 'fast', ...steady })
const slow = deriveProfile('sn740', { name: 'slow', readBytesPerSecond: 400 * MIB, ...steady })
const whole = (lengthBytes: number) => [{ offsetBytes: 0, lengthBytes, memoryBytes: 0 }]

/** Returns the duration of a read on the clock of the store. */
async function timeOf(store: Pick<BlockSet, 'dma' | 'read' | 'clock'>, lengthBytes: number): Promise<number> {
  const memory = store.dma.alloc(lengthBytes)
  const startNs = store.clock.now()
  await store.read(whole(lengthBytes), memory)
  memory.free()
  return store.clock.now() - startNs
}

describe('a mirror', () => {
  test('stores an image on every member, and opens with members in any order', async () => {
    const stores = (await drives([{}, { blockBytes: 4096, capacityBytes: 40 * MIB }])).map(({ store }) => store)
    const set = await createMirror(stores)
    expect(set).toMatchObject({ name: 'mirror of 2', blockBytes: 4096, capacityBytes: 30 * MIB, degraded: false })
    const model = await layeredModel(3, 2 * MIB)
    await pack(model, set)
    const again = await openSet(stores.toReversed())
    expect(await verifyImage(again)).toMatchObject({ ok: true })
    for await (using lease of streamLayers((await openImage(again)).model())) {
      for (const { name } of lease.tensors) {
        expect(Buffer.compare(lease.tensor(name), await tensorBytes(model, name)), name).toBe(0)
      }
    }
    const [one, other] = await Promise.all(stores.map((store) => get(store, 2 * MIB, 16 * MIB)))
    expect(Buffer.compare(one!, other!)).toBe(0)
    expect(again.locate(0, 4096)).toBe('member 0: NSID 1  LBA 0x1000 to 0x1007; member 1: NSID 1  LBA 0x200 to 0x200')
  })

  test('reads from two equal members in about half the time of one', async () => {
    const [one, other] = await drives([{ profile: 'sn740' }, { profile: 'sn740', seed: 2 }])
    const set = await createMirror([one!.store, other!.store])
    const alone = await timeOf(one!.store, 24 * MIB)
    expect(alone / (await timeOf(set, 24 * MIB))).toBeGreaterThan(1.7)
  })

  test.each([0.25, 1, 4, 24])(
    'a mirror with one slow member is no slower than the fast one alone, at %d MiB',
    async (mib) => {
      const [quick, late] = await drives([{ profile: fast }, { profile: slow }])
      const set = await createMirror([late!.store, quick!.store])
      const alone = await timeOf(quick!.store, mib * MIB)
      for (let pass = 0; pass < 5; pass++) expect(await timeOf(set, mib * MIB)).toBeLessThanOrEqual(alone)
    },
  )

  test('corrects wrong rates by the measured rates of its members', async () => {
    const stores = (await drives([{ profile: fast }, { profile: slow }])).map(({ store }) => store)
    await createMirror(stores)
    const set = await openSet(stores, { rates: [3e9, 3e9] })
    for (let pass = 0; pass < 12; pass++) await timeOf(set, 24 * MIB)
    const [quick, late] = set.members.map(({ bytesPerSecond }) => bytesPerSecond!)
    expect(quick! / late!).toBeGreaterThan(6)
    expect(quick! / late!).toBeLessThan(10)
    expect(await timeOf(set, 24 * MIB)).toBeLessThanOrEqual(await timeOf(stores[0]!, 24 * MIB))
  })
})

const damage = (lba: number): FaultRule => ({
  match: { opcode: 2, lba: [lba, lba] },
  action: { kind: 'status', sct: 2, sc: 0x81, dnr: true },
})

describe('a mirror with unreadable blocks', () => {
  const content = noise(8 * MIB)

  test('reads them from another member, and counts and reports the repair', async () => {
    // The data begins at LBA 4096. The damaged block is 40 blocks after it.
    const [media, other] = await mirrored(content)
    const [bad, good] = await drives([{ media, faults: { rules: [damage(4136)] } }, { media: other }])
    const reported: string[] = []
    const onProblem = ({ kind }: SetProblem) => reported.push(kind)
    const set = await openSet([bad!.store, good!.store], { rates: [1e12, 1], onProblem })
    expect(Buffer.compare(await get(set, 0, MIB), content.subarray(0, MIB))).toBe(0)
    expect(set.statistics).toMatchObject({ repairedReads: 1, repairedBytes: MIB, stalls: 0 })
    expect(set.problems).toMatchObject([
      { kind: 'repaired', member: 0, message: 'member 0 (namespace 1) could not read NSID 1  LBA 0x1000 to 0x17ff' },
    ])
    expect(reported).toEqual(['repaired'])
    expect(set.degraded).toBe(false)
  })

  test('blocks that no member can read fail only their reads, and the error names the members', async () => {
    const faults = { rules: [damage(4136)] }
    const members = await drives((await mirrored(content)).map((media) => ({ media, faults })))
    const set = await openSet(
      members.map(({ store }) => store),
      { rates: [1, 1] },
    )
    await expect(get(set, 0, MIB)).rejects.toMatchObject({ code: 'ERR_GPUNVME_SET_MEMBER' })
    await expect(get(set, 0, MIB)).rejects.toThrow(/Unrecovered Read Error[^]*no other member could read it either/)
    expect(Buffer.compare(await get(set, MIB, MIB), content.subarray(MIB, 2 * MIB))).toBe(0)
    expect(set.degraded).toBe(false)
  })

  test('a mirror with unreadable blocks in different places returns a complete image', async () => {
    const media = [new RamMedia(32 * MIB), new RamMedia(32 * MIB)]
    const made = await createMirror((await drives(media.map((each) => ({ media: each })))).map(({ store }) => store))
    await pack(await layeredModel(3, 2 * MIB), made)
    // The image begins at byte 2 MiB of a member, LBA 4096, and its layers 2 MiB after that.
    const rules = [[damage(2 * 4096 + 100), damage(4096)], [damage(2 * 4096 + 3000)]]
    const members = await drives(rules.map((own, index) => ({ media: media[index]!, faults: { rules: own } })))
    const set = await openSet(
      members.map(({ store }) => store),
      { rates: [1, 1] },
    )
    for (let pass = 0; pass < 3; pass++) {
      for await (using lease of streamLayers((await openImage(set)).model())) expect(lease.verified).toBe(true)
    }
    expect(set.statistics.repairedReads).toBeGreaterThan(0)
    // Verification reads each member by itself.
    const { problems } = await verifyImage(set)
    expect(problems.map(({ code }) => code)).toEqual(Array(3).fill('ERR_GPUNVME_TRANSFER'))
  })
})

describe('a mirror with a failing member', () => {
  const content = noise(8 * MIB)
  const removal = (lba: number): FaultRule => ({
    match: { opcode: 2, lba: [lba, lba] },
    action: { kind: 'remove-device' },
  })

  test('reads continue from the other members when a member is lost during a read', async () => {
    const [media, other] = await mirrored(content)
    const [gone, rest] = await drives([
      { media, profile: 'sn740', faults: { rules: [removal(4096 + 3 * 2048)] } },
      { media: other, profile: 'sn740', seed: 2 },
    ])
    const set = await openSet([gone!.store, rest!.store], { rates: [1e12, 1] })
    expect(Buffer.compare(await get(set, 0, content.length), content)).toBe(0)
    expect(set.degraded).toBe(true)
    expect(set.members.map(({ state }) => state)).toEqual(['lost', 'live'])
    expect(set.problems.map(({ kind, member }) => [kind, member])).toEqual([['lost', 0]])
    const before = set.statistics.readBytes[0]
    expect(Buffer.compare(await get(set, 0, content.length), content)).toBe(0)
    expect(set.statistics.readBytes[0]).toBe(before)
    expect(rest!.simulation.diagnostics).toEqual([])
  })

  test('fails all reads and writes with ERR_GPUNVME_MIRROR_LOST after the last one is lost', async () => {
    const faults = { rules: [removal(4096)] }
    const members = await drives((await mirrored(content)).map((media) => ({ media, faults })))
    const set = await openSet(
      members.map(({ store }) => store),
      { rates: [1, 1] },
    )
    await expect(get(set, 0, MIB)).rejects.toThrow(/all members of the mirror are lost: open the drives again/)
    await expect(get(set, MIB, MIB)).rejects.toMatchObject({ code: 'ERR_GPUNVME_MIRROR_LOST', category: 'device' })
    await expect(put(set, MIB, noise(4096))).rejects.toMatchObject({ code: 'ERR_GPUNVME_MIRROR_LOST' })
    await expect(set.flush()).rejects.toMatchObject({ code: 'ERR_GPUNVME_MIRROR_LOST' })
  })

  test('reads avoid a member that stalls, until it answers', async () => {
    const match = { opcode: 2, lba: [4096, 4096 + 511] } as const
    const faults = { rules: [{ match, action: { kind: 'delay-completion', delayNs: 3e9 } }] } as const
    const [media, other] = await mirrored(content)
    const [late, prompt] = await drives([
      { media, profile: 'sn740', faults },
      { media: other, profile: 'sn740', seed: 2 },
    ])
    const set = await openSet([late!.store, prompt!.store], { rates: [2e9, 1e9], stallNs: 10e6 })
    const { clock } = set
    const first = get(set, 0, content.length)
    while (set.statistics.stalls === 0) await clock.idle(clock.now() + 1e6)
    // A second read begins after the stall, and ends long before the first one.
    const startNs = clock.now()
    const second = await get(set, 4 * MIB, MIB)
    expect(clock.now() - startNs).toBeLessThan(10e6)
    expect(Buffer.compare(second, content.subarray(4 * MIB, 5 * MIB))).toBe(0)
    expect(Buffer.compare(await first, content)).toBe(0)
    // The read ends only after the stalled command, which may still write to its memory.
    expect(clock.now()).toBeGreaterThan(3e9)
    expect([set.statistics.stalls, set.degraded]).toEqual([1, false])
    expect(set.problems.map(({ kind, member }) => [kind, member])).toEqual([['stalled', 0]])
    // The member has answered, and is used again.
    const before = set.statistics.readBytes[0]!
    await get(set, 4 * MIB, 4 * MIB)
    expect(set.statistics.readBytes[0]).toBeGreaterThan(before)
    expect(late!.simulation.diagnostics).toEqual([])
  })

  test('a read from a member that hangs completes after the driver has ended the command', async () => {
    const match = { opcode: 2, lba: [4096, 4096 + 511], times: 1 } as const
    const [media, other] = await mirrored(content)
    const members = await drives([
      { media, profile: 'sn740', faults: { rules: [{ match, action: { kind: 'hang' } }] } },
      { media: other, profile: 'sn740', seed: 2 },
    ])
    const set = await openSet(
      members.map(({ store }) => store),
      { rates: [2e9, 1e9], stallNs: 10e6 },
    )
    expect(Buffer.compare(await get(set, 0, content.length), content)).toBe(0)
    expect([set.statistics.stalls, set.degraded]).toEqual([1, false])
    expect(members.flatMap(({ simulation }) => simulation.diagnostics)).toEqual([])
    expect(Buffer.compare(await get(set, 0, content.length), content)).toBe(0)
  })

  test('a read rejects after the reads of other members if a member throws synchronously', async () => {
    const stores = (await drives((await mirrored(content)).map((media) => ({ media })))).map(({ store }) => store)
    const failure = new TypeError('synchronous failure')
    let [isArmed, running] = [false, 0]
    const members = [
      altered(stores[0]!, {
        read: (...args) => {
          if (isArmed) throw failure
          return stores[0]!.read(...args)
        },
      }),
      altered(stores[1]!, {
        read: async (...args) => {
          running++
          try {
            return await stores[1]!.read(...args)
          } finally {
            running--
          }
        },
      }),
    ]
    const set = await openSet(members, { rates: [1e9, 1e9] })
    const memory = set.dma.alloc(8 * MIB)
    isArmed = true
    const ended = set.read(whole(8 * MIB), memory).catch((error: unknown) => ({ error, running }))
    expect(await ended).toEqual({ error: failure, running: 0 })
    isArmed = false
    // Cancelled reads do not count as in flight: both members are used again.
    await set.read(whole(8 * MIB), memory)
    expect(set.statistics.readBytes.every((bytes) => bytes > MIB)).toBe(true)
    memory.free()
  })

  test('an aborted read rejects with its reason, and no member is lost', async () => {
    const media = await mirrored(content)
    const members = await drives(media.map((each) => ({ media: each, profile: 'sn740' })))
    const set = await openSet(members.map(({ store }) => store))
    const memory = set.dma.alloc(24 * MIB)
    const aborting = new AbortController()
    const reading = set.read(whole(24 * MIB), memory, aborting)
    aborting.abort('enough')
    await expect(reading).rejects.toBe('enough')
    await expect(set.read(whole(MIB), memory, aborting)).rejects.toBe('enough')
    memory.free()
    expect([set.degraded, set.problems]).toEqual([false, []])
    expect(Buffer.compare(await get(set, 0, MIB), content.subarray(0, MIB))).toBe(0)
  })
})
