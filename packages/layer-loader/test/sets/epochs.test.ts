import { describe, expect, test } from 'vitest'
import { RamMedia } from '@gpunvme/nvme-sim'
import { openImage } from '../../src/index.js'
import { pack, verifyImage } from '../../src/image/index.js'
import { createMirror, openSet, rebuildMirror } from '../../src/sets/index.js'
import { smallModel } from '../models.js'
import { drives, get, MIB, mirrored, noise, put, storesOn } from './drives.js'

const content = noise(4 * MIB)

describe('a mirror member that was absent during a write', () => {
  test('a member that missed a write is stale: it is reported, and neither read nor written', async () => {
    const media = await mirrored(content)
    const [one] = await storesOn([media[0]])
    const alone = await openSet([one!])
    expect(alone.problems).toMatchObject([{ kind: 'missing', member: 1 }])
    const newer = noise(4 * MIB, 2)
    await put(alone, 0, newer)
    const stores = await storesOn(media)
    const set = await openSet(stores.toReversed())
    expect(set.members.map(({ state }) => state)).toEqual(['live', 'stale'])
    expect(set.problems.map(({ kind, member }) => [kind, member])).toEqual([['stale', 1]])
    expect(Buffer.compare(await get(set, 0, newer.length), newer)).toBe(0)
    await put(set, 0, content)
    expect(Buffer.compare(await get(stores[1]!, 2 * MIB, content.length), content)).toBe(0)
    expect(set.statistics.readBytes[1]).toBe(0)
  })

  test('an absent member is live when it returns if nothing was written', async () => {
    const media = await mirrored(content)
    const [, other] = await storesOn(media)
    const alone = await openSet([other!])
    expect(Buffer.compare(await get(alone, 0, content.length), content)).toBe(0)
    const set = await openSet(await storesOn(media))
    expect([set.degraded, set.problems]).toEqual([false, []])
  })

  test('and was itself written without the others makes openSet report a split mirror', async () => {
    const media = await mirrored(content)
    for (const each of media) await put(await openSet(await storesOn([each])), 0, noise(4096))
    await expect(openSet(await storesOn(media))).rejects.toMatchObject({ code: 'ERR_GPUNVME_MIRROR_SPLIT' })
    // Each member alone still opens as a degraded mirror.
    expect((await openSet(await storesOn([media[1]]))).degraded).toBe(true)
  })

  test('and was written alone is split, not stale, even after the others lost another member', async () => {
    const media = [new RamMedia(12 * MIB), new RamMedia(12 * MIB), new RamMedia(12 * MIB)] as const
    await createMirror(await storesOn(media))
    const written = noise(4096)
    await put(await openSet(await storesOn([media[0]])), 0, written)
    await put(await openSet(await storesOn([media[1], media[2]])), 0, noise(4096, 2))
    await put(await openSet(await storesOn([media[1]])), 0, noise(4096, 3))
    const split = { code: 'ERR_GPUNVME_MIRROR_SPLIT' }
    const both = await storesOn([media[0], media[1]])
    await expect(openSet(both)).rejects.toMatchObject(split)
    await expect(openSet(both)).rejects.toThrow(
      /member 0 .*: epoch 2, current 0x1\n.*member 1 .*: epoch 3, current 0x2/s,
    )
    await expect(rebuildMirror(both)).rejects.toMatchObject(split)
    expect(await get(await openSet(await storesOn([media[0]])), 0, 4096)).toEqual(written)
    // The third member has a prefix of the writes of the second: it is stale.
    const rest = await openSet(await storesOn([media[2], media[1]]))
    expect(rest.members.map(({ state }) => state)).toEqual(['missing', 'live', 'stale'])
  })
})

describe('a mirror member that is lost during a write', () => {
  test('a member lost during a write is stale: the others advance their epoch before the write ends', async () => {
    const media = await mirrored(content)
    const action = { kind: 'remove-device' } as const
    const faults = { rules: [{ match: { opcode: 1, lba: [4096 + 1024, 4096 + 2047] }, action }] } as const
    const members = await drives([{ media: media[0] }, { media: media[1], faults }])
    const set = await openSet(members.map(({ store }) => store))
    const newer = noise(4 * MIB, 3)
    await put(set, 0, newer)
    expect(set.members.map(({ state }) => state)).toEqual(['live', 'lost'])
    const again = await openSet(await storesOn(media))
    expect(again.members.map(({ state }) => state)).toEqual(['live', 'stale'])
    expect(Buffer.compare(await get(again, 0, newer.length), newer)).toBe(0)
    expect(members[0]!.simulation.diagnostics).toEqual([])
  })

  test('a member lost during a write does not fail pack: the image is complete on the others', async () => {
    const media = [new RamMedia(16 * MIB), new RamMedia(16 * MIB), new RamMedia(16 * MIB)]
    await createMirror(await storesOn(media))
    const action = { kind: 'remove-device' } as const
    const faults = { rules: [{ match: { opcode: 1, nth: 9 }, action }] } as const
    const members = await drives([{ media: media[0]!, faults }, { media: media[1]! }, { media: media[2]! }])
    const set = await openSet(members.map(({ store }) => store))
    await pack(await smallModel(), set)
    expect(set.members.map(({ state }) => state)).toEqual(['lost', 'live', 'live'])
    const again = await openSet(await storesOn(media))
    expect(again.members.map(({ state }) => state)).toEqual(['stale', 'live', 'live'])
    expect(await verifyImage(again)).toMatchObject({ ok: true })
    expect((await openImage(await openSet(await storesOn(media.slice(1))))).models.length).toBe(1)
  })
})
