import { describe, expect, test } from 'vitest'
import type { ByteSource, Model } from '../src/formats/index.js'
import { openImage } from '../src/index.js'
import { NamespaceTooSmallError, pack, previewPack, type PackOptions } from '../src/image/index.js'
import { asStore, type Readable } from '../src/store/as-store.js'
import { MemoryNamespace } from './memory-namespace.js'
import { layeredModel, smallModel } from './models.js'

/** A store that has neither write nor flush. */
function readOnly({ namespace }: MemoryNamespace): Readable {
  const store = asStore(namespace)
  const { name, blockBytes, capacityBytes, saturationBytes, dma, clock, movesData } = store
  const read: typeof store.read = (...args) => store.read(...args)
  const locate: typeof store.locate = (...args) => store.locate(...args)
  return { name, blockBytes, capacityBytes, saturationBytes, dma, clock, movesData, read, locate }
}

async function revised(): Promise<Model> {
  const model = await layeredModel(3, 10_000)
  const [{ source, headerBytes }] = model.parts
  const named: ByteSource = Object.assign(Object.create(source) as ByteSource, { revision: '1' })
  return { ...model, parts: [{ source: named, headerBytes }] }
}

describe('previewPack predicts without writing', () => {
  test.each([
    ['nothing, on an empty namespace', 8 << 20, [], {}, 'nothing'],
    ['nothing, beside another model', 8 << 20, ['a'], {}, 'nothing'],
    ['kept, with room for both', 8 << 20, ['a', 'b'], { replace: true }, 'kept'],
    ['given up, without room for both', (2 << 20) + (100 << 10), ['b'], { replace: true }, 'discarded'],
  ] as const)('what pack replaces: %s', async (_, capacityBytes, names, options, replaced) => {
    const memory = new MemoryNamespace({ capacityBytes })
    for (const name of names) await pack(await smallModel(), memory.namespace, { name })
    memory.journal.length = 0
    const model = await smallModel(undefined, 2)
    const request: PackOptions = { name: 'b', ...options }
    const preview = await previewPack(model, readOnly(memory), request)
    expect(memory.journal).toEqual([])
    expect(preview).toMatchObject({ replaced, resumableBytes: 0, otherModels: names.filter((name) => name !== 'b') })
    expect(preview).not.toHaveProperty('loadNs')
    if (names.length > 0) expect(preview.freeBytes).toBe((await openImage(memory.namespace)).freeBytes)
    else expect(preview.freeBytes).toBe(capacityBytes - (2 << 20))

    let totalBytes = 0
    const onProgress = (progress: { totalBytes: number }) => void (totalBytes = progress.totalBytes)
    const receipt = await pack(model, memory.namespace, { ...request, onProgress })
    expect(receipt).toMatchObject({ replaced, imageBytes: preview.plan.imageBytes })
    expect(preview.dataBytes).toBe(totalBytes)
    const places = ({ layers }: typeof receipt.manifest) => layers.map(({ offsetBytes }) => offsetBytes)
    expect(places(receipt.manifest)).toEqual(places(preview.plan.manifest))
  })

  test('how many bytes of an interrupted pack can be resumed', async () => {
    const memory = new MemoryNamespace()
    const controller = new AbortController()
    let pieces = 0
    const onProgress = () => {
      if (++pieces === 3) controller.abort('killed')
    }
    const request = { name: 'm', checkpointBytes: 1 }
    const packing = pack(await revised(), memory.namespace, { ...request, onProgress, signal: controller.signal })
    await expect(packing).rejects.toBe('killed')
    const { resumableBytes, resumes } = await previewPack(await revised(), readOnly(memory), { name: 'm' })
    expect(resumableBytes).toBeGreaterThan(0)
    expect(resumes).toBe(true)
    const other = await previewPack(await revised(), readOnly(memory), { name: 'n' })
    expect(other).toMatchObject({ resumableBytes: 0, resumes: false })
    expect(await pack(await revised(), memory.namespace, request)).toMatchObject({ resumedBytes: resumableBytes })
  })

  test('previewPack predicts that pack continues an interrupted one without reusable bytes', async () => {
    const memory = new MemoryNamespace()
    const onProgress = () => {
      throw new Error('killed')
    }
    await expect(pack(await revised(), memory.namespace, { name: 'm', onProgress })).rejects.toThrow('killed')
    const preview = await previewPack(await revised(), readOnly(memory), { name: 'm' })
    expect(preview).toMatchObject({ resumes: true, resumableBytes: 0 })
    await pack(await revised(), memory.namespace, { name: 'm' })
    expect(await previewPack(await revised(), readOnly(memory), { name: 'n' })).toMatchObject({ resumes: false })
  })

  test('the load time by a cost model, for full chunks and the rest of each layer', async () => {
    const calls: [number, number][] = []
    const readNs = (lengthBytes: number, queueDepth: number) => {
      calls.push([lengthBytes, queueDepth])
      return lengthBytes
    }
    const model = await layeredModel(2, (2 << 20) + 5000)
    const { loadNs } = await previewPack(model, readOnly(new MemoryNamespace({ capacityBytes: 16 << 20 })), {
      cost: { readNs },
    })
    expect(loadNs).toBe(2 * ((2 << 20) + 8192))
    expect(calls).toContainEqual([1_048_576, 32])
    expect(calls).toContainEqual([8192, 32])
  })
})

describe('previewPack rejects', () => {
  test('an existing name, a small namespace, a damaged image and an aborted signal', async () => {
    const memory = new MemoryNamespace({ capacityBytes: (2 << 20) + (100 << 10) })
    const model = await smallModel()
    await pack(model, memory.namespace)
    const preview = () => previewPack(model, readOnly(memory))
    await expect(preview()).rejects.toMatchObject({ code: 'ERR_GPUNVME_MODEL_EXISTS' })
    await expect(previewPack(model, readOnly(memory), { name: 'b' })).rejects.toBeInstanceOf(NamespaceTooSmallError)
    for (const at of [100, (1 << 20) + 100]) memory.media[at]! ^= 1
    await expect(preview()).rejects.toMatchObject({ code: 'ERR_GPUNVME_IMAGE_EXISTS' })
    await expect(previewPack(model, readOnly(memory), { signal: AbortSignal.abort('no') })).rejects.toBeDefined()
  })
})
