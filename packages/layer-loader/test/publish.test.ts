import { describe, expect, test } from 'vitest'
import type { Model } from '../src/formats/index.js'
import { openImage, readSourceHeader, hasCode } from '../src/index.js'
import { pack, SuperblockError, verifyImage } from '../src/image/index.js'
import { MemoryNamespace, type MemoryNamespaceOptions } from './memory-namespace.js'
import { expectAllLoads, smallModel } from './models.js'
import { afterCut, firstChange, judgeCuts, type Recording } from './power-cut.js'

/** The fingerprint of the image on the media, every chunk of it verified; undefined when there is none. */
async function imageOn(media: Uint8Array): Promise<string | undefined> {
  const { namespace } = new MemoryNamespace({ media })
  try {
    const image = await openImage(namespace)
    // A copy of the superblock may be damaged or old, which opening tolerates; nothing else may.
    await expectAllLoads(image.model())
    await readSourceHeader(image.model())
    return image.model().fingerprint
  } catch (error) {
    if (hasCode(error, 'ERR_GPUNVME_NO_IMAGE') || error instanceof SuperblockError) return undefined
    throw error
  }
}

interface Packing extends Recording {
  readonly old: string | undefined
  readonly fresh: string
  readonly replaced: string
}

/** Packs one model after the other and keeps what the last packing wrote. Its superblocks take 8 commands each. */
async function record(models: readonly Model[], options: MemoryNamespaceOptions): Promise<Packing> {
  const memory = new MemoryNamespace({ maxTransferBytes: 512, ...options })
  let before = memory.media.slice()
  let old: string | undefined
  let fresh: string | undefined
  let replaced = 'nothing'
  for (const model of models) {
    before = memory.media.slice()
    memory.journal.length = 0
    old = fresh
    ;({ fingerprint: fresh, replaced } = await pack(model, memory.namespace, { replace: true }))
  }
  return { before, journal: memory.journal, old, fresh: fresh!, replaced }
}

/**
 * Cuts worth looking at: all of those while superblocks are written; of those in the data, where one is like the
 * other, a few; none in the zeroing of reserved bytes that are zero already.
 */
function cutsOf(packing: Packing): number[] {
  const { journal } = packing
  const first = firstChange(packing)
  const cuts = Array.from({ length: journal.length - first + 1 }, (_, index) => first + index)
  const [dataDone = 0] = journal.flatMap(({ kind }, index) => (kind === 'flush' && index > first ? [index] : []))
  return cuts.filter((cut) => cut >= dataDone || (cut - first) % 9 === 0)
}

async function expectEveryCutSound(packing: Packing, outcomes: readonly (string | undefined)[]): Promise<void> {
  await judgeCuts(packing, cutsOf(packing), async (media, cut) => {
    expect(outcomes, `after ${cut} of ${packing.journal.length}`).toContain(await imageOn(media))
  })
  expect(await imageOn(afterCut(packing, packing.journal.length))).toBe(packing.fresh)
}

const CAPACITY = (3 << 20) + (100 << 10)

describe('whenever packing is cut off', () => {
  test('a first image is whole or not there', async () => {
    const packing = await record([await smallModel()], { capacityBytes: CAPACITY })
    expect(packing.replaced).toBe('nothing')
    await expectEveryCutSound(packing, [undefined, packing.fresh])
  })

  test('a replaced image is whole until the new one is', async () => {
    const packing = await record([await smallModel(), await smallModel(undefined, 2)], { capacityBytes: CAPACITY })
    expect(packing.replaced).toBe('kept')
    await expectEveryCutSound(packing, [packing.old, packing.fresh])
  })

  test('the third image takes the place of the first, while the second is whole', async () => {
    const models = [await smallModel(), await smallModel(undefined, 2), await smallModel(undefined, 3)]
    const packing = await record(models, { capacityBytes: (2 << 20) + (1 << 20) + (100 << 10) })
    expect(packing.replaced).toBe('kept')
    await expectEveryCutSound(packing, [packing.old, packing.fresh])
  })

  test('an image that leaves no room for its successor is given up before its first byte is overwritten', async () => {
    const models = [await smallModel(), await smallModel(undefined, 2)]
    const packing = await record(models, { capacityBytes: (2 << 20) + (100 << 10) })
    expect(packing.replaced).toBe('given up')
    await expectEveryCutSound(packing, [packing.old, undefined, packing.fresh])
  })
})

describe('where one copy is all that is left of an image, it is the last to be written over', () => {
  test.each([0, 1 << 20])('the other, at byte %i, being damaged', async (damagedCopy) => {
    const memory = new MemoryNamespace({ capacityBytes: CAPACITY, maxTransferBytes: 512 })
    const { fingerprint: old } = await pack(await smallModel(), memory.namespace)
    memory.media[damagedCopy + 100]! ^= 1
    const before = memory.media.slice()
    memory.journal.length = 0
    const { fingerprint: fresh } = await pack(await smallModel(undefined, 2), memory.namespace, { replace: true })
    await expectEveryCutSound({ before, journal: memory.journal, old, fresh, replaced: 'kept' }, [old, fresh])
  })
})

test('packing again after a cut between the two copies counts on, and repairs the older copy', async () => {
  const packing = await record([await smallModel(), await smallModel(undefined, 2)], { capacityBytes: CAPACITY })
  const lastFlushes = packing.journal.flatMap(({ kind }, index) => (kind === 'flush' ? [index] : []))
  const media = afterCut(packing, lastFlushes.at(-2)! + 1)
  const { namespace } = new MemoryNamespace({ media })
  const image = await openImage(namespace)
  expect(image.superblock.generation).toBe(2)
  expect(image.problems.map(({ code }) => code)).toEqual(['ERR_GPUNVME_IMAGE_STALE_COPY'])
  const receipt = await pack(await smallModel(undefined, 3), namespace, { replace: true })
  expect(receipt.generation).toBe(3)
  expect((await openImage(namespace)).problems).toEqual([])
})

describe('an image that is there', () => {
  test('is refused, whole or damaged, unless it may be replaced; and nothing is written', async () => {
    const memory = new MemoryNamespace()
    await pack(await smallModel(), memory.namespace)
    for (const damage of [[], [4000], [100, (1 << 20) + 4000]]) {
      for (const at of damage) memory.media[at]! ^= 1
      memory.journal.length = 0
      const code = damage.length < 2 ? 'ERR_GPUNVME_MODEL_EXISTS' : 'ERR_GPUNVME_IMAGE_EXISTS'
      await expect(pack(await smallModel(), memory.namespace)).rejects.toMatchObject({ code })
      expect(memory.journal).toEqual([])
    }
  })

  test('is given up when it is damaged: there is nothing to keep', async () => {
    const memory = new MemoryNamespace()
    const { manifest } = await pack(await smallModel(), memory.namespace)
    memory.media[manifest.chunkTable.offsetBytes]! ^= 1
    const receipt = await pack(await smallModel(undefined, 2), memory.namespace, { replace: 'image' })
    expect(receipt).toMatchObject({ replaced: 'given up', generation: 2 })
    expect(await verifyImage(memory.namespace)).toMatchObject({ ok: true })
  })
})

test('an older copy of the superblock is brought up to date before anything is written where it leads', async () => {
  const packing = await record([await smallModel(), await smallModel(undefined, 2)], { capacityBytes: CAPACITY })
  const lastFlushes = packing.journal.flatMap(({ kind }, index) => (kind === 'flush' ? [index] : []))
  const memory = new MemoryNamespace({ media: afterCut(packing, lastFlushes.at(-2)! + 1) })
  expect((await openImage(memory.namespace)).problems).toHaveLength(1)
  const before = memory.media.slice()
  await pack(await smallModel(undefined, 3), memory.namespace, { replace: true })
  const first = memory.journal.findIndex((entry) => entry.kind === 'write' && entry.offsetBytes >= 2 << 20)
  const media = afterCut({ before, journal: memory.journal }, first)
  expect(await openImage(new MemoryNamespace({ media }).namespace)).toMatchObject({
    problems: [],
    superblock: { generation: 2 },
  })
}, 60_000)

test('a namespace that held no image has zeros before the data, so that no file system seems to be on it', async () => {
  const memory = new MemoryNamespace({ media: new Uint8Array(4 << 20).fill(0x55) })
  await pack(await smallModel(), memory.namespace)
  const between = [memory.media.subarray(4096, 1 << 20), memory.media.subarray((1 << 20) + 4096, 2 << 20)]
  for (const bytes of between) expect(bytes.every((byte) => byte === 0)).toBe(true)
})

test('a model whose tensors have no bytes is an image all the same', async () => {
  const { namespace } = new MemoryNamespace()
  await pack(await smallModel([['model.norm.weight', 0]]), namespace)
  expect(await verifyImage(namespace)).toMatchObject({ ok: true, chunks: 0 })
})
