import { describe, expect, test } from 'vitest'
import type { Model } from '../src/formats/index.js'
import { ModelNotInImageError, loadTensor, openImage, hasCode } from '../src/index.js'
import { NamespaceTooSmallError, pack, planPack, removeModel, verifyImage } from '../src/image/index.js'
import { asStore } from '../src/store/as-store.js'
import { decide } from '../src/pack/decide.js'
import { survey } from '../src/pack/target.js'
import { MemoryNamespace } from './memory-namespace.js'
import { expectAllLoads, smallModel, tensorBytes, type TensorSize } from './models.js'
import { afterCut, firstChange, judgeCuts, type Recording } from './power-cut.js'

const SLOW_MS = 120_000

test('replacing a damaged model does not discard the others', async () => {
  const memory = new MemoryNamespace()
  const { namespace } = memory
  const { manifest } = await pack(await sized(1), namespace, { name: 'a' })
  await pack(await sized(2), namespace, { name: 'b' })
  memory.media[manifest.chunkTable.offsetBytes]! ^= 1
  memory.journal.length = 0
  const replacing = pack(await sized(3), namespace, { name: 'a', replace: true })
  await expect(replacing).rejects.toThrow("{ replace: 'image' } to discard all of it")
  expect(memory.journal).toEqual([])
  memory.media[manifest.chunkTable.offsetBytes]! ^= 1
  expect((await openImage(namespace)).models.map(({ name }) => name)).toEqual(['a', 'b'])
})

/** Returns a model of one layer, 8 pages long unless given; its bytes depend on the seed. */
const sized = (seed: number, lengthBytes = 32_768): Promise<Model> =>
  smallModel([['model.layers.0.weight', lengthBytes] satisfies TensorSize], seed)

/** Returns a namespace with these models and an empty journal. */
async function withModels(capacityBytes: number, names: readonly string[]): Promise<MemoryNamespace> {
  const memory = new MemoryNamespace({ capacityBytes, maxTransferBytes: 4096 })
  for (const [index, name] of names.entries()) await pack(await sized(index + 1), memory.namespace, { name })
  memory.journal.length = 0
  return memory
}

/** Returns the fingerprints of all models by name, after verification; undefined without an image. */
async function modelsOn(media: Uint8Array): Promise<Record<string, string> | undefined> {
  const { namespace } = new MemoryNamespace({ media })
  try {
    const { models } = await openImage(namespace)
    for (const model of models) await expectAllLoads(model)
    return Object.fromEntries(models.map(({ name, fingerprint }) => [name, fingerprint]))
  } catch (error) {
    if (hasCode(error, 'ERR_GPUNVME_NO_IMAGE')) return undefined
    throw error
  }
}

const allCuts = (recording: Recording): number[] => {
  const first = firstChange(recording)
  return Array.from({ length: recording.journal.length - first + 1 }, (_, index) => first + index)
}

describe('several models on one namespace', () => {
  test('several models are listed in the order of packing and loaded byte-identical', async () => {
    const { namespace } = new MemoryNamespace()
    const models = { a: await smallModel(), b: await sized(2), c: await smallModel(undefined, 3) }
    for (const [name, model] of Object.entries(models)) {
      expect(await pack(model, namespace, { name })).toMatchObject({ name, replaced: 'nothing', sameAs: [] })
    }
    const image = await openImage(namespace)
    expect(image.models.map(({ name }) => name)).toEqual(['a', 'b', 'c'])
    for (const [name, model] of Object.entries(models)) {
      for (const tensor of model.tensors) {
        const loaded = await loadTensor(image.model(name), tensor.name)
        expect(Buffer.compare(loaded, await tensorBytes(model, tensor.name)), tensor.name).toBe(0)
      }
    }
    expect(await verifyImage(namespace)).toMatchObject({ ok: true, problems: [] })
    expect(() => image.model()).toThrow(ModelNotInImageError)
  })

  test('leave all other bytes free, as freeBytes and holes', async () => {
    const { namespace } = await withModels(8 << 20, ['a', 'b'])
    const { extents, holes, freeBytes } = await openImage(namespace)
    const usedBytes = extents.reduce((sum, { lengthBytes }) => sum + Math.ceil(lengthBytes / 4096) * 4096, 0)
    expect(freeBytes).toBe((8 << 20) - (2 << 20) - usedBytes)
    expect(holes.reduce((sum, { lengthBytes }) => sum + lengthBytes, 0)).toBe(freeBytes)
  })

  test('models with the same tensors are both kept, and the receipt names the first in sameAs', async () => {
    const { namespace } = await withModels(8 << 20, ['a', 'b'])
    expect(await pack(await sized(2), namespace, { name: 'c' })).toMatchObject({ sameAs: ['b'] })
  })

  test('pack rejects an existing name without writing; names are case-sensitive', async () => {
    const memory = await withModels(8 << 20, ['a'])
    const error: unknown = await pack(await sized(2), memory.namespace, { name: 'a' }).catch(
      (thrown: unknown) => thrown,
    )
    expect(error).toMatchObject({ code: 'ERR_GPUNVME_MODEL_EXISTS' })
    expect(error).toMatchObject({ code: 'ERR_GPUNVME_MODEL_EXISTS', category: 'privilege' })
    expect(memory.journal).toEqual([])
    expect(await pack(await sized(2), memory.namespace, { name: 'A' })).toMatchObject({ generation: 2 })
  })

  test('a model is split over several holes if it fits in none', async () => {
    const memory = await withModels((2 << 20) + (320 << 10), ['a', 'b', 'c', 'd'])
    const { namespace } = memory
    await removeModel(namespace, 'a')
    await removeModel(namespace, 'c')
    const kept = (await openImage(namespace)).models
    const { holes, freeBytes } = await openImage(namespace)
    // More layers than fit in the longest hole, and fewer than fit in all of them.
    const layers = (freeBytes >> 12) - 12
    expect(layers).toBeGreaterThan(Math.max(...holes.map(({ lengthBytes }) => lengthBytes >> 12)))
    const model = await smallModel(
      Array.from({ length: layers }, (_, index): TensorSize => [`model.layers.${index}.w`, 4096]),
      9,
    )
    const { manifest } = await pack(model, namespace, { name: 'scattered' })
    const places = manifest.layers.map(({ offsetBytes }) => offsetBytes)
    expect(places.some((offsetBytes, index) => index > 0 && offsetBytes !== places[index - 1]! + 4096)).toBe(true)
    expect(await verifyImage(namespace)).toMatchObject({ ok: true })
    const after = await openImage(namespace)
    for (const { name, layers } of kept) expect(after.model(name).layers).toEqual(layers)
  })

  test('pack without room for another model reports needed, free and longest free bytes', async () => {
    const memory = await withModels((2 << 20) + (160 << 10), ['a'])
    const { freeBytes, holes } = await openImage(memory.namespace)
    const model = await sized(2, 100_000)
    const error: unknown = await pack(model, memory.namespace, { name: 'b' }).catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(NamespaceTooSmallError)
    const largestHoleBytes = Math.max(...holes.map(({ lengthBytes }) => lengthBytes))
    expect(error).toMatchObject({ neededBytes: planPack(model, 512).endBytes, freeBytes, largestHoleBytes })
    expect((error as Error).message).toContain('remove or replace a model')
    expect(memory.journal).toEqual([])
  })

  test('the directory is limited to 1024 models', async () => {
    const { namespace } = await withModels(8 << 20, ['a'])
    const target = await survey(asStore(namespace))
    const [entry] = target.image!.directory
    const full = Array.from({ length: 1024 }, (_, index) => ({ ...entry!, name: `model ${index}` }))
    const model = await sized(2)
    const withDirectory = (directory: typeof full) => ({ ...target, image: { ...target.image!, directory } })
    expect(() => decide(model, withDirectory(full), { name: 'b' })).toThrow(
      expect.objectContaining({ code: 'ERR_GPUNVME_DIRECTORY_FULL' }),
    )
    expect(decide(model, withDirectory(full.slice(1)), { name: 'b' }).others).toHaveLength(1023)
  })
})

describe('after a cut at any write, a change is complete or absent, and other models are complete', () => {
  async function record(
    memory: MemoryNamespace,
    change: (memory: MemoryNamespace) => Promise<unknown>,
  ): Promise<Recording & { readonly changed: Record<string, string> | undefined }> {
    const before = memory.media.slice()
    memory.journal.length = 0
    await change(memory)
    return { before, journal: memory.journal, changed: await modelsOn(memory.media) }
  }

  test.each([
    ['adding a model', 8 << 20, 'c', {}],
    ['replacing a model, with room for both', 8 << 20, 'b', { replace: true }],
  ] as const)(
    '%s',
    async (_, capacityBytes, name, options) => {
      const memory = await withModels(capacityBytes, ['a', 'b'])
      const old = await modelsOn(memory.media)
      const recording = await record(memory, async ({ namespace }) =>
        pack(await sized(7), namespace, { name, ...options }),
      )
      expect(recording.changed).toMatchObject({ a: old!['a'] })
      await judgeCuts(recording, allCuts(recording), async (media, cut) => {
        expect([old, recording.changed], `after ${cut}`).toContainEqual(await modelsOn(media))
      })
    },
    SLOW_MS,
  )

  test(
    'replacing a model without room for both discards it, and keeps the others',
    async () => {
      const memory = await withModels((2 << 20) + (128 << 10), ['a', 'b'])
      const old = await modelsOn(memory.media)
      const journalLengths: number[] = []
      const onDiscard = () => void journalLengths.push(memory.journal.length)
      let replaced: string | undefined
      const recording = await record(memory, async ({ namespace }) => {
        ;({ replaced } = await pack(await sized(7), namespace, { name: 'b', replace: true, onDiscard }))
      })
      expect({ replaced, journalLengths }).toEqual({ replaced: 'discarded', journalLengths: [0] })
      const outcomes = [old, { a: old!['a'] }, recording.changed]
      await judgeCuts(recording, allCuts(recording), async (media, cut) => {
        expect(outcomes, `after ${cut}`).toContainEqual(await modelsOn(media))
      })
    },
    SLOW_MS,
  )

  test.each([
    ['removing one of two models', ['a', 'b']],
    ['removing the only model', ['b']],
  ])(
    '%s',
    async (_, names) => {
      const memory = await withModels(8 << 20, names)
      const old = await modelsOn(memory.media)
      const recording = await record(memory, ({ namespace }) => removeModel(namespace, 'b'))
      const { b: removed, ...others } = old!
      expect(removed).toBeDefined()
      expect(recording.changed).toEqual(others)
      await judgeCuts(recording, allCuts(recording), async (media, cut) => {
        expect([old, others], `after ${cut}`).toContainEqual(await modelsOn(media))
      })
    },
    SLOW_MS,
  )
})

describe('removeModel', () => {
  test('removeModel frees the space of a model, and returns the freed bytes and remaining models', async () => {
    const { namespace } = await withModels(8 << 20, ['a', 'b'])
    const before = await openImage(namespace)
    const receipt = await removeModel(namespace, 'a', { imageId: new Uint8Array(16).fill(5) })
    const { fingerprint } = before.model('a')
    expect(receipt).toMatchObject({ name: 'a', fingerprint, generation: 3, models: ['b'], imageId: '05'.repeat(16) })
    const after = await openImage(namespace)
    expect(after.superblock.imageId).toBe(receipt.imageId)
    expect(after.freeBytes).toBe(before.freeBytes + receipt.freedBytes)
    expect(await verifyImage(namespace)).toMatchObject({ ok: true })
  })

  test('removeModel of the last model leaves an image to which models can be packed', async () => {
    const memory = await withModels(8 << 20, ['a'])
    expect(await removeModel(memory.namespace, 'a')).toMatchObject({ models: [], generation: 2 })
    expect(await verifyImage(memory.namespace)).toMatchObject({ ok: true, chunks: 0, image: { models: [] } })
    await expect(removeModel(memory.namespace, 'a')).rejects.toBeInstanceOf(ModelNotInImageError)
    expect(await pack(await sized(2), memory.namespace)).toMatchObject({ generation: 3, replaced: 'nothing' })
  })

  test('removeModel works on a namespace without a free block', async () => {
    const model = await sized(1)
    const { endBytes } = planPack(model, 512, { name: 'a' })
    const { namespace } = new MemoryNamespace({ capacityBytes: endBytes })
    await pack(model, namespace, { name: 'a' })
    expect(await removeModel(namespace, 'a')).toMatchObject({ models: [] })
  })

  test('removeModel rejects an image without room for a new directory, and writes nothing', async () => {
    const model = await sized(1)
    const { usedEndBytes } = planPack(model, 512, { name: 'a' })
    const roomy = new MemoryNamespace()
    await pack(model, roomy.namespace, { name: 'a' })
    const memory = new MemoryNamespace({ media: roomy.media.slice(0, usedEndBytes) })
    const error: unknown = await removeModel(memory.namespace, 'a').catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ code: 'ERR_GPUNVME_NO_ROOM_FOR_DIRECTORY' })
    expect(memory.journal).toEqual([])
    expect(
      await pack(await sized(2), new MemoryNamespace({ media: roomy.media.slice(0, usedEndBytes + 8192) }).namespace, {
        name: 'a',
        replace: true,
      }),
    ).toMatchObject({ replaced: 'discarded' })
  })

  test('removeModel rejects a missing model or image, invalid options and a concurrent pack', async () => {
    const memory = await withModels(8 << 20, ['a'])
    await expect(removeModel(memory.namespace, 'b')).rejects.toBeInstanceOf(ModelNotInImageError)
    await expect(removeModel(memory.namespace, 'a', { imageId: new Uint8Array(3) })).rejects.toThrow(RangeError)
    await expect(removeModel(memory.namespace, 'a', { signal: AbortSignal.abort('no') })).rejects.toBe('no')
    expect(memory.journal).toEqual([])
    await expect(removeModel(new MemoryNamespace().namespace, 'a')).rejects.toMatchObject({
      code: 'ERR_GPUNVME_NO_IMAGE',
    })
    const model = await sized(2)
    const packing = pack(model, memory.namespace, { name: 'b' })
    await expect(removeModel(memory.namespace, 'a')).rejects.toMatchObject({ code: 'ERR_GPUNVME_PACK_IN_PROGRESS' })
    await packing
  })

  test('cut between the two superblock copies leaves an image to which models can be packed', async () => {
    const memory = await withModels(8 << 20, ['a', 'b'])
    const before = memory.media.slice()
    await removeModel(memory.namespace, 'a')
    const superblocks = memory.journal.flatMap(({ kind }, index) => (kind === 'flush' ? [index] : []))
    const media = afterCut({ before, journal: memory.journal }, superblocks.at(-2)! + 1)
    const { namespace } = new MemoryNamespace({ media })
    expect((await openImage(namespace)).problems).toMatchObject([{ code: 'ERR_GPUNVME_IMAGE_STALE_COPY' }])
    expect(await pack(await sized(3), namespace, { name: 'a' })).toMatchObject({ generation: 4 })
    expect(await verifyImage(namespace)).toMatchObject({ ok: true })
  })
})
