import { describe, expect, test } from 'vitest'
import { memorySource, openModel, openModelParts, type ByteSource, type Model } from '../src/formats/index.js'
import { openImage } from '../src/index.js'
import { NamespaceTooSmallError, pack, planPack, type PackProgress } from '../src/image/index.js'
import { safetensors, shard } from './formats/bytes.js'
import { MemoryFolder } from './formats/memory-folder.js'
import { MemoryNamespace } from './memory-namespace.js'
import { safetensorsFile, smallModel } from './models.js'

/** Returns the error of a pack that must be rejected, and expects that nothing was written. */
async function refusal(model: Model, memory: MemoryNamespace, options = {}): Promise<unknown> {
  const error: unknown = await pack(model, memory.namespace, options).catch((thrown: unknown) => thrown)
  expect(memory.journal).toEqual([])
  expect(memory.allocatedBytes).toBe(0)
  return error
}

describe('pack rejects before it writes', () => {
  test('a namespace that is one block too small', async () => {
    const model = await smallModel()
    const { endBytes } = planPack(model, 512)
    const error = await refusal(model, new MemoryNamespace({ capacityBytes: endBytes - 512 }))
    expect(error).toBeInstanceOf(NamespaceTooSmallError)
    expect(error).toMatchObject({ category: 'infeasible', neededBytes: endBytes, availableBytes: endBytes - 512 })
    const memory = new MemoryNamespace({ capacityBytes: endBytes })
    await pack(model, memory.namespace)
    const { superblock, holes } = await openImage(memory.namespace)
    // One block more is enough. Two pages stay free, for the directory of the next publication.
    expect(superblock.usedEndBytes).toBe(endBytes - 8192)
    expect(holes).toEqual([{ offsetBytes: endBytes - 8192, lengthBytes: 8192 }])
  })

  test('a model without tensors', async () => {
    const error = await refusal(await openModel(memorySource(safetensors('{}'))), new MemoryNamespace())
    expect(error).toMatchObject({ code: 'ERR_GPUNVME_EMPTY_MODEL' })
  })

  test('a namespace whose logical blocks are longer than the alignment', async () => {
    const error = await refusal(await smallModel(), new MemoryNamespace({ blockBytes: 8192 }))
    expect(error).toMatchObject({ code: 'ERR_GPUNVME_IMAGE_BLOCK_SIZE' })
  })

  test.each(['', 'a'.repeat(256), 'a\nb', '\ud800'])('an invalid name: %j', async (name) => {
    expect(await refusal(await smallModel(), new MemoryNamespace(), { name })).toBeInstanceOf(RangeError)
  })

  test('an image id of the wrong length', async () => {
    const error = await refusal(await smallModel(), new MemoryNamespace(), { imageId: new Uint8Array(15) })
    expect(error).toBeInstanceOf(RangeError)
  })

  test('a signal that is already aborted', async () => {
    expect(await refusal(await smallModel(), new MemoryNamespace(), { signal: AbortSignal.abort('no') })).toBe('no')
  })
})

describe('planPack derives a valid name from the name of the source', () => {
  test.each([
    ['/models/tiny.gguf', 'tiny.gguf'],
    ['C:\\models\\tiny.gguf', 'tiny.gguf'],
    ['a\x1b[2Jb', 'a[2Jb'],
    ['\n\u202e', 'model'],
    ['é'.repeat(200), 'é'.repeat(127)],
  ])('%j', async (sourceName, name) => {
    const model = await openModel(memorySource(safetensorsFile(), sourceName))
    expect(planPack(model, 512).name).toBe(name)
  })
})

describe('planPack names a sharded safetensors model after its directory', () => {
  test.each([
    ['/models/Qwen3/', 'Qwen3'],
    ['C:\\models\\Qwen3\\', 'Qwen3'],
    ['./', 'model'],
    ['', 'model'],
    ['https://host/org/Qwen3/resolve/main/', 'model'],
  ])('%j', async (folder, name) => {
    const shards = [1, 2].map((number) => `model-0000${number}-of-00002.safetensors`)
    const weightMap = { a: shards[0], b: shards[1] }
    const files = {
      [`${folder}model.safetensors.index.json`]: Buffer.from(JSON.stringify({ metadata: {}, weight_map: weightMap })),
      [`${folder}${shards[0]}`]: shard('a'),
      [`${folder}${shards[1]}`]: shard('b'),
    }
    const opened = new MemoryFolder(files)
    const model = await openModelParts('model.safetensors.index.json', (part) => opened.open(`${folder}${part}`))
    expect(planPack(model, 512).name).toBe(name)
  })
})

describe('pack that fails while writing', () => {
  test('passes on the error of a source read, publishes nothing and frees all memory', async () => {
    const memory = new MemoryNamespace()
    const model = await smallModel()
    let reads = 0
    const [{ source, headerBytes }] = model.parts
    const failing: ByteSource = Object.assign(Object.create(source) as ByteSource, {
      read: (...args: Parameters<ByteSource['read']>) =>
        ++reads === 4 ? Promise.reject(new Error('disk on fire')) : source.read(...args),
    })
    await expect(pack({ ...model, parts: [{ source: failing, headerBytes }] }, memory.namespace)).rejects.toThrow(
      'disk on fire',
    )
    expect(memory.allocatedBytes).toBe(0)
    await expect(openImage(memory.namespace)).rejects.toMatchObject({ code: 'ERR_GPUNVME_NO_IMAGE' })
  })

  test('a failed write publishes nothing and frees all memory', async () => {
    const memory = new MemoryNamespace()
    memory.outcome = ({ operation, slba }, command) =>
      operation === 'write' && slba[command]! > 4100
        ? { kind: 'status', sct: 2, sc: 0x80, dnr: true, more: false, crd: 0 }
        : { kind: 'success' }
    await expect(pack(await smallModel(), memory.namespace)).rejects.toMatchObject({ code: 'ERR_GPUNVME_TRANSFER' })
    expect(memory.allocatedBytes).toBe(0)
    await expect(openImage(memory.namespace)).rejects.toMatchObject({ code: 'ERR_GPUNVME_NO_IMAGE' })
  })

  test('a failed write prevents writes of the rest of a large model', async () => {
    const memory = new MemoryNamespace({ capacityBytes: 128 << 20 })
    memory.outcome = ({ operation, slba }, command) =>
      operation === 'write' && slba[command] === 4096
        ? { kind: 'status', sct: 2, sc: 0x80, dnr: true, more: false, crd: 0 }
        : { kind: 'success' }
    const packing = pack(await smallModel([['model.layers.0.w', 100 << 20]]), memory.namespace)
    await expect(packing).rejects.toMatchObject({ code: 'ERR_GPUNVME_TRANSFER' })
    expect(memory.plans.filter(({ operation }) => operation === 'write').length).toBeLessThan(10)
  })

  test('an abort throws the reason, publishes nothing and frees all memory', async () => {
    const memory = new MemoryNamespace()
    const controller = new AbortController()
    const onProgress = () => controller.abort('enough')
    await expect(pack(await smallModel(), memory.namespace, { signal: controller.signal, onProgress })).rejects.toBe(
      'enough',
    )
    expect(memory.allocatedBytes).toBe(0)
    await expect(openImage(memory.namespace)).rejects.toMatchObject({ code: 'ERR_GPUNVME_NO_IMAGE' })
  })
})

test('pack overlaps reads and writes in bounded memory, and reports all bytes as progress', async () => {
  const memory = new MemoryNamespace({ capacityBytes: 128 << 20 })
  memory.gate = ({ operation }) => (operation === 'write' ? new Promise(setImmediate) : Promise.resolve())
  const progress: PackProgress[] = []
  await pack(await smallModel([['model.layers.0.w', 100 << 20]]), memory.namespace, {
    onProgress: (event) => progress.push(event),
  })
  expect(memory.peakInFlight).toBeGreaterThan(1)
  expect(memory.peakBytes).toBeLessThan(36 << 20)
  expect(progress.at(-1)!.doneBytes).toBe(progress.at(-1)!.totalBytes)
})

test('planPack is deterministic, and pack follows the plan', async () => {
  const model = await smallModel()
  const plan = planPack(model, 4096)
  expect(planPack(model, 512)).toEqual(plan)
  const { manifest, imageBytes } = await pack(model, new MemoryNamespace().namespace)
  expect(imageBytes).toBe(plan.imageBytes)
  expect(imageBytes).toBe(plan.usedEndBytes - 2_097_152)
  const places = ({ layers }: typeof manifest) =>
    layers.map(({ name, offsetBytes, lengthBytes }) => ({ name, offsetBytes, lengthBytes }))
  expect(places(manifest)).toEqual(places(plan.manifest))
})
