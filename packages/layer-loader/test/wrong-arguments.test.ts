import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { Controller, type WritableNamespace } from '@gpunvme/host-driver'
import { simulate } from '@gpunvme/nvme-sim'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { scratch } from '../../../test/scratch.js'
import { Catalogue, type Model } from '../src/formats/index.js'
import {
  LoaderError,
  loadTensor,
  openImage,
  openLoader,
  openModelInFiles,
  planStream,
  streamLayers,
  type Image,
  type Loader,
  type StoredExtent,
  type StoredModel,
} from '../src/index.js'
import { pack, planPack, previewPack, removeModel, verifyImage } from '../src/image/index.js'
import { storeSource } from '../src/store/index.js'
import { layerSizes, openResidence } from '../src/residence/index.js'
import { MemoryNamespace } from './memory-namespace.js'
import { safetensorsFile, smallModel } from './models.js'

/** An error of a wrong argument. */
const INVALID = expect.objectContaining({ code: 'ERR_GPUNVME_INVALID_ARGUMENT' }) as Error

const memory = new MemoryNamespace()
let [file, image, stored, loader]: [Model?, Image?, StoredModel?, Loader?] = []
beforeAll(async () => {
  file = await smallModel()
  await pack(file, memory.namespace)
  image = await openImage(memory.namespace)
  stored = image.model()
  loader = openLoader(stored)
})
afterAll(() => loader!.close())

describe.each<[string, (model: never) => unknown]>([
  ['openLoader', openLoader],
  ['streamLayers', streamLayers],
  ['planStream', planStream],
  ['layerSizes', layerSizes],
  ['openResidence', (model) => openResidence(model, {} as never)],
  ['loadTensor', (model) => loadTensor(model, 'model.norm.weight')],
])('%s names the call that returns a loadable model', (_, call) => {
  test.each<[string, () => unknown, string]>([
    ['an image', () => image, 'image.model(name)'],
    ['a catalogue', () => new Catalogue(file!), 'modelInPlace(catalogue, ...)'],
    ['headers of a model', () => file, 'openModelInFiles(path)'],
    ['a namespace', () => memory.namespace, '(await openImage(namespace)).model()'],
    ['a path', () => '/models/x.gguf', 'openModelInFiles(path)'],
    ['undefined', () => undefined, 'openModelInFiles(path)'],
    ['null', () => null, 'openModelInFiles(path)'],
  ])('the error names the call that returns a loadable model for %s', async (_, value, next) => {
    const error: unknown = await new Promise((resolve) => resolve(call(value() as never))).catch(
      (thrown: unknown) => thrown,
    )
    expect(error).toBeInstanceOf(LoaderError)
    expect(error).toMatchObject({ code: 'ERR_GPUNVME_INVALID_ARGUMENT', category: 'usage' })
    expect((error as LoaderError).next).toContain(next)
  })
})

test.each<[string, () => unknown, string]>([
  ['an extent of a catalogue', () => new Catalogue(file!).layer(0), 'got the layer "layer 0" of a catalogue'],
  ['the name of a layer', () => 'layer 0', 'got "layer 0"'],
  ['undefined', () => undefined, 'got "undefined"'],
  ['null', () => null, 'got "null"'],
])('a loader rejects %s with the call that returns an extent', (_, value, message) => {
  const extent = value() as StoredExtent
  for (const call of [() => loader!.request(extent), () => loader!.plan(extent)]) {
    expect(call).toThrow(INVALID)
    expect(call).toThrow(message)
    expect(call).toThrow('pass model.layer(n), model.expert(layer, n) or model.tensor(name)')
  }
})

test('pack to a namespace of a controller that was opened without write is rejected', async () => {
  const { transport } = simulate({ namespaces: [{ capacityBytes: 8 << 20 }] })
  const controller = await Controller.open(transport)
  const namespace = controller.namespace(1) as WritableNamespace
  await expect(pack(file!, namespace)).rejects.toMatchObject({
    code: 'ERR_GPUNVME_READ_ONLY',
    next: expect.stringContaining('open the controller with { write: { serial } }') as string,
  })
  await controller.close()
})

test('verifyImage of a path is rejected', async () => {
  await expect(verifyImage('m.img' as never)).rejects.toThrow(
    'target: expected a namespace or a block store, got "m.img"',
  )
})

describe('an option of a wrong type is reported by its name', () => {
  test.each<[unknown, string]>([
    [{ verify: true }, "verify: expected 'full', 'off' or { sample: 0.1 }, got true"],
    [{ verify: 'Full' }, `verify: expected 'full', 'off' or { sample: 0.1 }, got "Full"`],
    [{ verify: {} }, "verify: expected 'full', 'off' or { sample: 0.1 }, got an object"],
    [{ where: 'vram' }, `where: expected 'host' or 'gpu', got "vram"`],
    [{ signal: {} }, 'signal: expected an AbortSignal, got an object'],
  ])('by openLoader and streamLayers: %o', (options, message) => {
    for (const open of [openLoader, streamLayers]) {
      expect(() => open(stored!, options as never)).toThrow(message)
      expect(() => open(stored!, options as never)).toThrow(INVALID)
    }
  })

  test.each<[unknown, string]>([
    [{ layers: 'layer 0' }, 'layers: expected an array of names or numbers of layers, got "layer 0"'],
    [{ skip: 'layer 0' }, 'skip: expected an array of names or numbers of layers, got "layer 0"'],
    [{ whenHeld: 'Wait' }, `whenHeld: expected 'throw' or 'wait', got "Wait"`],
  ])('by streamLayers: %o', (options, message) => {
    expect(() => streamLayers(stored!, options as never)).toThrow(message)
    expect(() => streamLayers(stored!, options as never)).toThrow(INVALID)
  })

  test.each([1e18, 1.5])('slotBytes of %d is not an exact number of bytes', (slotBytes) => {
    const message = `slotBytes: expected an integer from 1 to 9007199254740991, got ${slotBytes}`
    expect(() => openLoader(stored!, { slotBytes })).toThrow(message)
    expect(() => streamLayers(stored!, { slotBytes })).toThrow(message)
  })

  test('by request: an unknown priority would make the order of all requests undefined', async () => {
    const extent = stored!.tensor('model.norm.weight')
    const message = `priority: expected 'now', 'soon' or 'ahead', got "NOW"`
    expect(() => loader!.request(extent, { priority: 'NOW' as never })).toThrow(message)
    expect(() => loader!.request(extent, { signal: {} as never })).toThrow('signal: expected an AbortSignal')
    const ticket = loader!.request(extent)
    expect(() => ticket.setPriority('NOW' as never)).toThrow(INVALID)
    expect((await ticket.lease()).name).toBe('model.norm.weight')
  })
})

describe('a target of a wrong kind is rejected with the calls that return a namespace or store', () => {
  test.each<[string, (target: never) => unknown]>([
    ['openImage', openImage],
    ['pack', (target) => pack(file!, target)],
    ['previewPack', (target) => previewPack(file!, target)],
    ['removeModel', (target) => removeModel(target, 'small')],
    ['storeSource', (target) => storeSource(target)],
  ])('by %s', async (_, call) => {
    for (const [target, got] of [
      ['m.img', '"m.img"'],
      [undefined, 'undefined'],
      [{}, 'an object'],
    ]) {
      await expect(Promise.resolve(target as never).then(call)).rejects.toMatchObject({
        code: 'ERR_GPUNVME_INVALID_ARGUMENT',
        headline: `target: expected a namespace or a block store, got ${got as string}`,
        next: expect.stringContaining('pass controller.namespace(1); for a file, await openFileStore(path)') as string,
      })
    }
  })
})

test.each<[string, () => unknown, string]>([
  ['a model of openModelInFiles', () => ({ catalogue: {}, store: {} }), 'pass model.catalogue.model'],
  ['a catalogue', () => new Catalogue(file!), 'pass catalogue.model'],
  ['a model of an image', () => stored, 'pass await openModelFile(path)'],
  ['a path', () => 'model.gguf', 'pass await openModelFile(path)'],
])('pack and planPack reject %s with what to pass instead', async (_, model, next) => {
  const { namespace, journal } = new MemoryNamespace()
  const error = { code: 'ERR_GPUNVME_INVALID_ARGUMENT', next }
  await expect(pack(model() as Model, namespace)).rejects.toMatchObject(error)
  expect(() => planPack(model() as Model, 512)).toThrow(expect.objectContaining(error))
  expect(journal).toEqual([])
})

test('planPack without a block size does not advise to format a namespace', () => {
  expect(() => planPack(file!, undefined as never)).toThrow(
    expect.objectContaining({
      code: 'ERR_GPUNVME_INVALID_ARGUMENT',
      message: 'blockBytes: expected the block size of the store, such as 512, got undefined',
    }),
  )
})

test('a model rejects names and numbers of a wrong type', () => {
  expect(() => stored!.tensor(5 as never)).toThrow('name: expected the name of a tensor, got 5')
  expect(() => stored!.expert(0, '1' as never)).toThrow('expert: expected a number, got "1"')
  expect(() => stored!.tensor(5 as never)).toThrow(INVALID)
  expect(() => stored!.expert(0, '1' as never)).toThrow(INVALID)
})

test('openModelInFiles accepts the URL of a file, and rejects other values', async () => {
  const path = join(scratch(), 'a b.safetensors')
  writeFileSync(path, safetensorsFile())
  for (const url of [pathToFileURL(path), pathToFileURL(path).href]) {
    await using model = await openModelInFiles(url)
    expect(model.catalogue.model.tensors).toHaveLength(6)
  }
  await expect(openModelInFiles(5 as never)).rejects.toMatchObject({
    code: 'ERR_GPUNVME_INVALID_ARGUMENT',
    message: 'path: expected a path or a URL, got 5',
  })
})
