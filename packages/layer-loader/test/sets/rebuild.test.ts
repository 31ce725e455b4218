import { RamMedia, SimulatedHost } from '@gpunvme/nvme-sim'
import { describe, expect, test } from 'vitest'
import { openImage } from '../../src/index.js'
import { pack, verifyImage } from '../../src/image/index.js'
import { createMirror, createStripe, openSet, rebuildMirror } from '../../src/sets/index.js'
import { smallModel } from '../models.js'
import { drive, drives, get, MIB, mirrored, noise, put, storesOn } from './drives.js'

const SIZE = 12 * MIB
const content = noise(4 * MIB)

describe('rebuildMirror', () => {
  test('copies the missed writes to a stale member', async () => {
    const media = await mirrored(content, SIZE)
    await pack(await smallModel(), await openSet(await storesOn([media[0]])))
    const stores = await storesOn(media)
    const done: number[] = []
    const set = await rebuildMirror(stores, {
      onProgress: ({ doneBytes, totalBytes }) => done.push(doneBytes / totalBytes),
    })
    expect(set.members.map(({ state }) => state)).toEqual(['live', 'live'])
    expect(set.problems).toEqual([])
    expect(done.at(-1)).toBe(1)
    // The rebuilt member alone has the complete image.
    const other = await openSet(await storesOn([media[1]]))
    expect(await verifyImage(other)).toMatchObject({ ok: true })
    expect((await openImage(other)).models.length).toBe(1)
  })

  test('replaces a missing member with a new drive; the old member is stale if it returns', async () => {
    const media = await mirrored(content, SIZE)
    const fresh = new RamMedia(SIZE)
    const set = await rebuildMirror(await storesOn([media[1], fresh]))
    expect(set.members.map(({ state }) => state)).toEqual(['live', 'live'])
    const copied = await openSet(await storesOn([fresh]))
    expect(Buffer.compare(await get(copied, 0, content.length), content)).toBe(0)
    const back = await openSet(await storesOn([media[0], media[1]]))
    expect(back.members.map(({ state }) => state)).toEqual(['stale', 'live'])
  })

  test('supports a new drive that cannot access the memory of the others', async () => {
    const media = await mirrored(content, SIZE)
    const [one] = await storesOn([media[0]])
    const { store: apart } = await drive({ capacityBytes: SIZE }, new SimulatedHost())
    const set = await rebuildMirror([one!, apart])
    expect(set.members.map(({ state, bounced }) => [state, bounced])).toEqual([
      ['live', false],
      ['live', true],
    ])
    expect(Buffer.compare(await get(await openSet([apart]), 0, content.length), content)).toBe(0)
  })

  test('continues without a source member that is lost, which is stale afterwards', async () => {
    const media = [new RamMedia(SIZE), new RamMedia(SIZE), new RamMedia(SIZE)] as const
    await put(await createMirror(await storesOn(media)), 0, content)
    await put(await openSet(await storesOn(media.slice(0, 2))), 4 * MIB, content)
    const match = { opcode: 2, lba: [4096 + 8192, 4096 + 16_383] } as const
    const faults = { rules: [{ match, action: { kind: 'remove-device' } }] } as const
    const members = await drives([{ media: media[0] }, { media: media[1], faults }, { media: media[2] }])
    const set = await rebuildMirror(
      members.map(({ store }) => store),
      { rates: [1e9, 1e12, 1e9] },
    )
    expect(set.members.map(({ state }) => state)).toEqual(['live', 'missing', 'live'])
    const again = await openSet(await storesOn(media))
    expect(again.members.map(({ state }) => state)).toEqual(['live', 'stale', 'live'])
    const copied = await openSet(await storesOn([media[2]]))
    expect(Buffer.compare(await get(copied, 4 * MIB, content.length), content)).toBe(0)
  })

  test('rebuildMirror does not change a complete mirror', async () => {
    const media = await mirrored(content, SIZE)
    const before = await get((await storesOn(media))[0]!, 0, 4096)
    expect((await rebuildMirror(await storesOn(media))).degraded).toBe(false)
    expect(Buffer.compare(await get((await storesOn(media))[0]!, 0, 4096), before)).toBe(0)
  })

  test('rejects stripes, and new drives that are too small, in use or superfluous', async () => {
    const media = await mirrored(content, SIZE)
    const stripe = await storesOn([new RamMedia(SIZE), new RamMedia(SIZE)])
    await createStripe(stripe)
    await expect(rebuildMirror(stripe)).rejects.toThrow('expected a mirror, got a stripe')
    const small = await storesOn([media[0], new RamMedia(8 * MIB)])
    await expect(rebuildMirror(small)).rejects.toMatchObject({ code: 'ERR_GPUNVME_MEMBER_TRUNCATED' })
    const used = await storesOn([media[0], new RamMedia(SIZE)])
    await pack(await smallModel(), used[1]!)
    await expect(rebuildMirror(used)).rejects.toMatchObject({ code: 'ERR_GPUNVME_MEMBER_IN_USE' })
    expect((await rebuildMirror(used, { replace: true })).degraded).toBe(false)
    const many = await storesOn([media[0], new RamMedia(SIZE), new RamMedia(SIZE)])
    await expect(rebuildMirror(many)).rejects.toThrow('expected at most 1 stores that are not members, got 2')
  })
})
