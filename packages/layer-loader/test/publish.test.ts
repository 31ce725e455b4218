import { describe, expect, test } from 'vitest'
import type { Model } from '../src/formats/index.js'
import { openImage, readSourceHeader, hasCode } from '../src/index.js'
import { pack, SuperblockError, verifyImage } from '../src/image/index.js'
import { MemoryNamespace, type MemoryNamespaceOptions } from './memory-namespace.js'
import { expectAllLoads, smallModel } from './models.js'
import { afterCut, firstChange, judgeCuts, type Recording } from './power-cut.js'

/** Returns the fingerprint of the image, after verification of every chunk; undefined without an image. */
async function imageOn(media: Uint8Array): Promise<string | undefined> {
  const { namespace } = new MemoryNamespace({ media })
  try {
    const image = await openImage(namespace)
    // One copy of the superblock may be damaged or stale. Everything else must be sound.
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

/** Packs the models in turn and records the writes of the last one. A superblock takes 8 commands. */
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
 * Cuts to test: all of those while superblocks are written, and every ninth of those in the data. Writes that zero
 * reserved bytes which are already zero are omitted.
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

describe('after a cut at any write of pack', () => {
  test('the first image is complete or absent', async () => {
    const packing = await record([await smallModel()], { capacityBytes: CAPACITY })
    expect(packing.replaced).toBe('nothing')
    await expectEveryCutSound(packing, [undefined, packing.fresh])
  })

  test('the old image is complete until the new one is', async () => {
    const packing = await record([await smallModel(), await smallModel(undefined, 2)], { capacityBytes: CAPACITY })
    expect(packing.replaced).toBe('kept')
    await expectEveryCutSound(packing, [packing.old, packing.fresh])
  })

  test('the second image is complete while the third overwrites the first', async () => {
    const models = [await smallModel(), await smallModel(undefined, 2), await smallModel(undefined, 3)]
    const packing = await record(models, { capacityBytes: (2 << 20) + (1 << 20) + (100 << 10) })
    expect(packing.replaced).toBe('kept')
    await expectEveryCutSound(packing, [packing.old, packing.fresh])
  })

  test('an image without room for its successor is discarded before it is overwritten', async () => {
    const models = [await smallModel(), await smallModel(undefined, 2)]
    const packing = await record(models, { capacityBytes: (2 << 20) + (100 << 10) })
    expect(packing.replaced).toBe('discarded')
    await expectEveryCutSound(packing, [packing.old, undefined, packing.fresh])
  })
})

describe('the only valid superblock copy is overwritten last', () => {
  test.each([0, 1 << 20])('when the copy at byte %i is damaged', async (damagedCopy) => {
    const memory = new MemoryNamespace({ capacityBytes: CAPACITY, maxTransferBytes: 512 })
    const { fingerprint: old } = await pack(await smallModel(), memory.namespace)
    memory.media[damagedCopy + 100]! ^= 1
    const before = memory.media.slice()
    memory.journal.length = 0
    const { fingerprint: fresh } = await pack(await smallModel(undefined, 2), memory.namespace, { replace: true })
    await expectEveryCutSound({ before, journal: memory.journal, old, fresh, replaced: 'kept' }, [old, fresh])
  })
})

test('pack repairs the stale superblock copy after a cut between the two', async () => {
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

describe('an existing image', () => {
  test('an existing image is not overwritten without replace, whether it is valid or damaged', async () => {
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

  test('an existing image is discarded with replace: image if it is damaged', async () => {
    const memory = new MemoryNamespace()
    const { manifest } = await pack(await smallModel(), memory.namespace)
    memory.media[manifest.chunkTable.offsetBytes]! ^= 1
    const receipt = await pack(await smallModel(undefined, 2), memory.namespace, { replace: 'image' })
    expect(receipt).toMatchObject({ replaced: 'discarded', generation: 2 })
    expect(await verifyImage(memory.namespace)).toMatchObject({ ok: true })
  })
})

test('pack updates a stale superblock copy before it overwrites the data of that copy', async () => {
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

test('the first image zeroes the reserved areas, so that no file system signature remains', async () => {
  const memory = new MemoryNamespace({ media: new Uint8Array(4 << 20).fill(0x55) })
  await pack(await smallModel(), memory.namespace)
  const between = [memory.media.subarray(4096, 1 << 20), memory.media.subarray((1 << 20) + 4096, 2 << 20)]
  for (const bytes of between) expect(bytes.every((byte) => byte === 0)).toBe(true)
})

test('a model whose only tensor is empty can be packed', async () => {
  const { namespace } = new MemoryNamespace()
  await pack(await smallModel([['model.norm.weight', 0]]), namespace)
  expect(await verifyImage(namespace)).toMatchObject({ ok: true, chunks: 0 })
})
