import type { RamMedia } from '@gpunvme/nvme-sim'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { loadTensor, openImage, readSourceHeader, streamLayers } from '../../src/index.js'
import { pack, verifyImage } from '../../src/image/index.js'
import { eraseSet, openSet, rebuildMirror, type SetProblem } from '../../src/sets/index.js'
import type { Model } from '../../src/formats/index.js'
import { layeredModel, tensorBytes } from '../models.js'
import { drives, MIB, mirrored, storesOn } from './drives.js'

const MEMBER_DATA = 2 * MIB

/** Packs a model onto a mirror of two members. Returns the media, and the place of each layer on them. */
async function packed(blockBytes?: 4096) {
  const media = await mirrored(new Uint8Array(4096))
  const set = await openSet(await stores(media, blockBytes))
  const model = await layeredModel(3, 3 * MIB)
  await pack(model, set)
  const { layers } = (await openImage(set)).model().manifest
  return { media, model, places: layers.map(({ offsetBytes }) => MEMBER_DATA + offsetBytes) }
}

async function stores(media: readonly RamMedia[], blockBytes: 512 | 4096 = 512) {
  return (await drives(media.map((each) => ({ media: each, blockBytes })))).map(({ store }) => store)
}

function flip(media: RamMedia, offsetBytes: number): void {
  const byte = new Uint8Array(1)
  media.read(offsetBytes, byte)
  media.write(
    offsetBytes,
    byte.map((value) => value ^ 1),
  )
}

/** Streams all layers and compares them with the model. */
async function expectWhole(set: Awaited<ReturnType<typeof openSet>>, model: Model): Promise<void> {
  for await (using lease of streamLayers((await openImage(set)).model(), { slots: 2 })) {
    expect(lease.verified).toBe(true)
    for (const { name } of lease.tensors)
      expect(Buffer.compare(lease.tensor(name), await tensorBytes(model, name)), name).toBe(0)
  }
}

test.each([
  ['512-byte blocks', undefined],
  ['4096-byte blocks', 4096],
] as const)(
  '%s: chunks damaged on different members are read from the other one, and reported',
  async (_, blockBytes) => {
    const { media, model, places } = await packed(blockBytes)
    // The second chunk of layer 0 on member 0, the first one of layer 2 on member 1.
    flip(media[0], places[0]! + 2 * MIB + 5)
    flip(media[1], places[2]! + 7)
    const reported: SetProblem[] = []
    const set = await openSet(await stores(media, blockBytes), { onProblem: (problem) => reported.push(problem) })
    for (let pass = 0; pass < 4; pass++) await expectWhole(set, model)
    expect(
      Buffer.compare(
        await loadTensor((await openImage(set)).model(), 'model.layers.2.weight'),
        await tensorBytes(model, 'model.layers.2.weight'),
      ),
    ).toBe(0)
    expect(reported.length).toBeGreaterThan(0)
    expect(new Set(reported.map(({ kind, member }) => `${kind} ${member}`))).toEqual(
      new Set(reported.map(({ member }) => `repaired ${member}`)),
    )
    for (const { member, message } of reported) {
      expect(message).toMatch(
        /^member [01] \(namespace 1\) returns bytes with a wrong checksum: member [01]: NSID 1 {2}LBA /,
      )
      expect(message).toContain(`member ${member}: `)
    }
    expect(set).toMatchObject({ degraded: false, statistics: { repairedReads: reported.length } })
  },
)

test('directory, manifest, chunk table and source header, damaged on one member, are read from the other one', async () => {
  const { media, model } = await packed()
  const { extents } = await openImage(await openSet(await storesOn(media)))
  const regions = extents.filter(({ holds }) => /^(dir|man|chunk|source)/.test(holds))
  expect(regions).toHaveLength(4)
  for (const { holds, offsetBytes } of regions) {
    flip(media[0], MEMBER_DATA + offsetBytes)
    // Member 0 gets all short reads.
    const set = await openSet(await storesOn(media), { rates: [1e12, 1e3] })
    const image = await openImage(set)
    await readSourceHeader(image.model())
    expect(set.problems, holds).toMatchObject([{ kind: 'repaired', member: 0 }])
    expect((await verifyImage(set)).problems, holds).toHaveLength(1)
    flip(media[0], MEMBER_DATA + offsetBytes)
  }
  await expectWhole(await openSet(await storesOn(media)), model)
})

test('verifyImage reports damage of any member of a mirror, and names the member', async () => {
  const { media, places } = await packed()
  const set = await openSet(await storesOn(media))
  const { header } = (await openImage(set)).model().manifest
  const bytes = 9 * MIB + header.lengthBytes
  expect(await verifyImage(set)).toMatchObject({ ok: true, bytes: 2 * bytes })
  for (const readBytes of set.statistics.readBytes) expect(readBytes).toBeGreaterThanOrEqual(bytes)
  for (const member of [0, 1] as const) {
    flip(media[member], places[1]! + 9)
    for (const rates of [
      [1e9, 1e3],
      [1e3, 1e9],
    ]) {
      const { ok, problems } = await verifyImage(await openSet(await storesOn(media), { rates }))
      expect(ok).toBe(false)
      expect(problems.map(({ facts }) => facts[1])).toEqual([expect.stringMatching(`^member ${member}: NSID 1`)])
    }
    flip(media[member], places[1]! + 9)
  }
})

test('a chunk that is damaged on all members fails its layer, and names both places', async () => {
  const { media, places } = await packed()
  for (const each of media) flip(each, places[1]! + 9)
  const set = await openSet(await storesOn(media))
  const stream = streamLayers((await openImage(set)).model())
  ;(await stream.next()).value!.release()
  await expect(stream.next()).rejects.toThrow(/Verification failed[^]*member 0: .*; member 1: /)
  expect(set.statistics.repairedReads).toBe(0)
})

test('a damaged member is restored by erasing its label and rebuilding the mirror', async () => {
  const { media, model, places } = await packed()
  flip(media[0], places[1]! + 9)
  const [bad, good] = await storesOn(media)
  await eraseSet([bad!])
  await rebuildMirror([good!, bad!])
  const set = await openSet(await storesOn(media))
  expect(await verifyImage(set)).toMatchObject({ ok: true })
  await expectWhole(set, model)
})

test('any damage that leaves one copy of each chunk right is never handed out', async () => {
  const { media, model, places } = await packed()
  const damage = fc.uniqueArray(
    fc.record({ layer: fc.nat(2), at: fc.nat(3 * MIB - 1), member: fc.constantFrom(0, 1) }),
    {
      minLength: 1,
      maxLength: 6,
      selector: ({ layer, at }) => `${layer} ${Math.floor(at / (2 * MIB))}`,
    },
  )
  await fc.assert(
    fc.asyncProperty(damage, async (bits) => {
      const flipAll = () => {
        for (const { layer, at, member } of bits) flip(media[member], places[layer]! + at)
      }
      flipAll()
      try {
        await expectWhole(await openSet(await storesOn(media)), model)
      } finally {
        flipAll()
      }
    }),
    { numRuns: 10 },
  )
})
