import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { scratch } from '../../../test/scratch.js'
import { Catalogue, memorySource, openFileSource, openModel, writeDemoModel, type Model } from '../src/formats/index.js'
import { loadTensor, modelInPlace, openImage, openLoader, readSourceHeader, streamLayers } from '../src/index.js'
import { pack, verifyImage } from '../src/image/index.js'
import { sourceStore } from '../src/store/source-store.js'
import { MemoryNamespace, type MemoryNamespaceOptions } from './memory-namespace.js'
import { layeredModel, smallModel, tensorBytes } from './models.js'

const folder = scratch()
let demo: Uint8Array

beforeAll(async () => {
  const path = join(folder, 'demo.gguf')
  await writeDemoModel(path, { layers: 3, targetBytes: 3 << 20 })
  demo = await readFile(path)
})

/** Packs, opens again, streams, and compares every tensor with the model's file. */
async function expectRoundTrip(model: Model, options: MemoryNamespaceOptions = {}): Promise<void> {
  const { namespace } = new MemoryNamespace({ capacityBytes: 16 << 20, ...options })
  const receipt = await pack(model, namespace)
  const packed = (await openImage(namespace)).model()
  expect(packed.fingerprint).toBe(receipt.fingerprint)
  const seen: string[] = []
  for await (using lease of streamLayers(packed)) {
    for (const { name, dtype, shape } of lease.tensors) {
      const original = model.tensors.find((tensor) => tensor.name === name)
      expect({ dtype, shape }).toEqual({ dtype: original!.dtype, shape: original!.shape })
      expect(Buffer.compare(lease.tensor(name), await tensorBytes(model, name)), name).toBe(0)
      seen.push(name)
    }
  }
  expect(seen.toSorted()).toEqual(model.tensors.map(({ name }) => name).toSorted())
  const [{ source, headerBytes }] = model.parts
  const header = new Uint8Array(headerBytes)
  await source.read(0, header)
  expect(Buffer.compare(await readSourceHeader(packed), header)).toBe(0)
  expect(await verifyImage(namespace)).toMatchObject({ ok: true, problems: [] })
}

describe('packed models are streamed byte-identical', () => {
  test('a packed GGUF file is streamed byte-identical', async () => {
    await using source = await openFileSource(join(folder, 'demo.gguf'))
    await expectRoundTrip(await openModel(source))
  })

  test('a packed safetensors file with an empty tensor is streamed byte-identical', async () => {
    await expectRoundTrip(await smallModel())
  })

  test.each([
    { blockBytes: 512, maxTransferBytes: 4096 },
    { blockBytes: 512, maxTransferBytes: 128 << 10, queues: 4 },
    { blockBytes: 4096, maxTransferBytes: 1 << 20 },
    { blockBytes: 4096, maxTransferBytes: 4 << 20, queues: 3 },
  ])('packed models survive $blockBytes-byte blocks and transfers of $maxTransferBytes bytes', async (options) => {
    await expectRoundTrip(await openModel(memorySource(demo, 'demo.gguf')), options)
  })

  test('packed layers longer than the buffers of pack are streamed byte-identical', async () => {
    await expectRoundTrip(await layeredModel(2, (5 << 20) + 3))
  })
})

test('the manifest has the format, name, architecture and layers of the file', async () => {
  const { namespace } = new MemoryNamespace()
  const model = await openModel(memorySource(demo, '/models/demo.gguf'))
  await pack(model, namespace)
  const packed = (await openImage(namespace)).model('gpunvme demo')
  expect(packed.manifest.source).toEqual({
    format: 'gguf',
    formatVersion: 3,
    name: 'gpunvme demo',
    architecture: 'llama',
  })
  expect(packed.layers).toEqual(['embedding', 'layer 0', 'layer 1', 'layer 2', 'output'])
  for (const { offsetBytes, tensors } of packed.manifest.layers) {
    expect(offsetBytes % 4096).toBe(0)
    for (const tensor of tensors) expect(tensor.offsetBytes % 4096).toBe(0)
  }
})

test('padding is zero although write buffers are reused', async () => {
  const { namespace } = new MemoryNamespace()
  const sizes = Array.from({ length: 24 }, (_, index) => 9000 - 300 * index)
  await pack(await smallModel(sizes.map((size, index) => [`model.layers.${index >> 1}.${index}`, size])), namespace)
  for await (using lease of streamLayers((await openImage(namespace)).model())) {
    const padding = lease.bytes.slice()
    for (const { offsetBytes, lengthBytes } of lease.tensors) padding.fill(0, offsetBytes, offsetBytes + lengthBytes)
    expect(padding.every((byte) => byte === 0)).toBe(true)
  }
})

test('loadTensor loads a single tensor, with and without verification', async () => {
  const { namespace } = new MemoryNamespace({ capacityBytes: 16 << 20 })
  const model = await smallModel([
    ['model.layers.0.a', 700_000],
    ['model.layers.0.b', 1_500_000],
    ['model.layers.0.c', 3],
    ['model.layers.0.d', 0],
  ])
  await pack(model, namespace)
  const packed = (await openImage(namespace)).model()
  for (const { name } of model.tensors) {
    for (const verify of ['full', 'off'] as const) {
      expect(Buffer.compare(await loadTensor(packed, name, { verify }), await tensorBytes(model, name))).toBe(0)
    }
  }
  await expect(loadTensor(packed, 'model.layers.0.e')).rejects.toThrow('no tensor "model.layers.0.e"')
})

test('the name of a tied tensor, which the file omits, loads the other tensor', async () => {
  const { namespace } = new MemoryNamespace()
  const model = await smallModel()
  await pack(model, namespace)
  const packed = (await openImage(namespace)).model()
  const embedding = await tensorBytes(model, 'model.embed_tokens.weight')
  expect(Buffer.compare(await loadTensor(packed, 'lm_head.weight'), embedding)).toBe(0)
  const inPlace = modelInPlace(new Catalogue(model), sourceStore(model.parts[0].source), [
    [{ fileOffsetBytes: 0, deviceOffsetBytes: 0, lengthBytes: model.parts[0].source.sizeBytes }],
  ])
  for (const [stored, verify] of [
    [packed, 'full'],
    [inPlace, 'off'],
  ] as const) {
    await using loader = openLoader(stored, { verify })
    using lease = await loader.request(stored.tensor('lm_head.weight')).lease()
    expect(lease.name).toBe('model.embed_tokens.weight')
    for (const name of ['lm_head.weight', 'model.embed_tokens.weight'])
      expect(Buffer.compare(lease.tensor(name), embedding)).toBe(0)
    expect(() => lease.tensor('model.norm.weight')).toThrow('name: expected a tensor of "model.embed_tokens.weight"')
  }
})

test('the fingerprint depends on the bytes of tensors, not on their order', async () => {
  const tensors = [
    ['a', 10],
    ['b', 20],
  ] as const
  const packInto = async (model: Model) => (await pack(model, new MemoryNamespace().namespace)).fingerprint
  const bytes = await smallModel(tensors)
  const swapped = { ...bytes, layers: [{ ...bytes.layers[0]!, tensors: bytes.tensors.toReversed() }] }
  const fingerprint = await packInto(bytes)
  expect(await packInto(swapped)).toBe(fingerprint)
  expect(await packInto(await smallModel(tensors, 2))).not.toBe(fingerprint)
})
