import { RamMedia, SimulatedHost } from '@gpunvme/nvme-sim'
import type { ChecksummedMemory, Checksummer, DmaAllocator, DmaMemory } from '@gpunvme/nvme-spec/transport'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { loadTensor, openImage, readSourceHeader, streamLayers, zlibChecksummer } from '../../src/index.js'
import { pack, verifyImage } from '../../src/image/index.js'
import {
  createMirror,
  createStripe,
  eraseSet,
  openSet,
  rebuildMirror,
  type BlockSet,
  type SetProblem,
} from '../../src/sets/index.js'
import type { Model } from '../../src/formats/index.js'
import { layeredModel, tensorBytes } from '../models.js'
import type { WritableBlockStore as Store } from '../../src/store/index.js'
import { altered, drive, drives, MIB, mirrored, storesOn } from './drives.js'

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

/** Flips a bit of a stripe of two mirrors, on one member of the mirror that has it. */
function flipInCopy(media: readonly RamMedia[], set: BlockSet, offsetBytes: number, copy: 0 | 1): void {
  const where = set.copies!.stores[copy]!.locate(offsetBytes, 512)
  const [, mirror, member, lba] = /^member ([01]): member ([01]): NSID 1 {2}LBA (0x[0-9a-f]+)/.exec(where)!
  expect(Number(member)).toBe(copy)
  flip(media[2 * Number(mirror) + copy]!, Number(lba) * 512 + 7)
}

test.each([
  ['on one host', false],
  ['on separate hosts, whose members are read through the host', true],
])(
  'a stripe of mirrors %s reads damaged chunks from the other members, and reports the locations',
  async (_, isApart) => {
    const media = Array.from({ length: 4 }, () => new RamMedia(32 * MIB))
    const host = new SimulatedHost()
    const onHosts = async () =>
      Promise.all(media.map(async (each) => (await drive({ media: each }, isApart ? undefined : host)).store))
    /** @param reads number of the member that gets all reads of each mirror. */
    const open = async (reads: 0 | 1, onProblem?: (problem: SetProblem) => void) => {
      const [a, b, c, d] = (await onHosts()) as [Store, Store, Store, Store]
      const rates = [1e3, 1e3]
      rates[reads] = 1e12
      return openSet([await openSet([a, b], { rates }), await openSet([c, d], { rates })], onProblem && { onProblem })
    }
    const [a, b, c, d] = (await onHosts()) as [Store, Store, Store, Store]
    const set = await createStripe([await createMirror([a, b]), await createMirror([c, d])])
    const model = await layeredModel(3, 3 * MIB)
    await pack(model, set)
    const { layers } = (await openImage(set)).model().manifest
    for (const [layer, copy] of [
      [0, 1],
      [2, 0],
    ] as const)
      flipInCopy(media, set, layers[layer]!.offsetBytes, copy)
    for (const reads of [0, 1] as const) {
      const reported: SetProblem[] = []
      const opened = await open(reads, (problem) => reported.push(problem))
      await expectWhole(opened, model)
      expect(reported).toMatchObject([{ kind: 'repaired' }])
      expect(reported[0]!.message).toMatch(
        new RegExp(
          `^copy ${reads} of the stripe of 2 returns bytes with a wrong checksum: member [01]: member ${reads}: `,
        ),
      )
      expect(opened.statistics).toMatchObject({ repairedReads: 1, repairedBytes: MIB })
      expect((await verifyImage(opened)).problemCount).toBe(2)
    }
  },
)

test('a chunk of a stripe of mirrors that is damaged in each copy fails its layer', async () => {
  const media = Array.from({ length: 4 }, () => new RamMedia(32 * MIB))
  const [a, b, c, d] = (await storesOn(media)) as [Store, Store, Store, Store]
  const set = await createStripe([await createMirror([a, b]), await createMirror([c, d])], { unitBytes: 65_536 })
  await pack(await layeredModel(1, 3 * MIB), set)
  const place = (await openImage(set)).model().layer(0).checks[0]!.storeBytes
  // Units of the first chunk: copy 0 is wrong on the first mirror, copy 1 on the second.
  for (const [unit, copy] of [
    [0, 0],
    [1, 1],
  ] as const)
    flipInCopy(media, set, place + unit * 65_536, copy)
  await expect(expectWhole(set, await layeredModel(1, 3 * MIB))).rejects.toThrow('Verification failed')
})

describe('memory without a CPU view', () => {
  const seen = new Map<ChecksummedMemory, DmaMemory>()
  const checksummer: Checksummer = {
    name: 'with access to hidden memory',
    checksum: (memory, ...rest) => zlibChecksummer.checksum(seen.get(memory) ?? memory, ...rest),
  }

  /** Opens a mirror of which a member gets all reads, and an allocator of memory that only its drives can access. */
  async function opened(media: readonly RamMedia[], reads: 0 | 1) {
    const rates = [1e3, 1e3]
    rates[reads] = 1e12
    const throughHidden = (store: Store) =>
      altered(store, {
        read: (transfers, memory, options) => store.read(transfers, seen.get(memory) ?? memory, options),
      })
    const set = await openSet((await storesOn(media)).map(throughHidden), { rates })
    const dma: DmaAllocator = {
      alloc(lengthBytes) {
        const memory = set.dma.alloc(lengthBytes)
        const hidden = Object.create(memory, { view: { value: undefined } }) as DmaMemory
        seen.set(hidden, memory)
        return hidden
      },
    }
    return { set, options: { where: 'gpu', dma, checksummer, slots: 2 } as const }
  }

  test('damaged chunks are read from the other member, and reported', async () => {
    const { media, model, places } = await packed()
    flip(media[0], places[0]! + 2 * MIB + 5)
    flip(media[1], places[2]! + 7)
    for (const reads of [0, 1] as const) {
      const { set, options } = await opened(media, reads)
      for await (using lease of streamLayers((await openImage(set)).model(), options)) {
        expect(lease.verified).toBe(true)
        for (const { name, offsetBytes, lengthBytes } of lease.tensors) {
          const { buffer, byteOffset } = seen.get(lease.memory)!.view!
          const bytes = new Uint8Array(buffer, byteOffset + offsetBytes, lengthBytes)
          expect(Buffer.compare(bytes, await tensorBytes(model, name)), name).toBe(0)
        }
      }
      expect(set.problems).toMatchObject([{ kind: 'repaired', member: reads }])
      expect(set.statistics.repairedReads).toBe(1)
    }
  })

  test('a chunk that is damaged on all members fails its layer', async () => {
    const { media, places } = await packed()
    for (const each of media) flip(each, places[0]! + 9)
    const { set, options } = await opened(media, 0)
    const stream = streamLayers((await openImage(set)).model(), options)
    await expect(stream.next()).rejects.toThrow('Verification failed')
    expect(set.problems).toEqual([])
  })
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
