import { expect, test } from 'vitest'
import { memorySource, openModel, writeAlignedGguf } from '../src/formats/index.js'
import { loadTensor, openImage, streamLayers } from '../src/index.js'
import { pack, verifyImage } from '../src/image/index.js'
import { concat, ggufHead, info, padTo, safetensors } from './formats/bytes.js'
import { MemoryNamespace } from './memory-namespace.js'
import { tensorBytes } from './models.js'

/** Three tensors of types of ik_llama.cpp and one of a retired type, each 32 bytes apart, with bytes that count up. */
async function oddModel() {
  const header = concat(
    ggufHead(4, 0),
    info('blk.0.a', [9], 344, 0),
    info('blk.0.ffn_up_exps.weight', [2, 3, 2], 137, 32),
    info('blk.1.a', [4], 4, 64),
    info('output.weight', [7], 0xffff_ffff, 96),
  )
  const start = Math.ceil(header.byteLength / 32) * 32
  const data = Uint8Array.from({ length: 96 + 7 }, (_, index) => index + 1)
  return openModel(memorySource(concat(padTo(start, header), data), 'odd.gguf'))
}

test('tensors of unknown types are packed and loaded as the bytes up to the next tensor', async () => {
  const model = await oddModel()
  const memory = new MemoryNamespace()
  await pack(model, memory.namespace)
  expect((await verifyImage(memory.namespace)).ok).toBe(true)
  const packed = (await openImage(memory.namespace)).model()
  // There are no checksums of experts, since the length of an expert is unknown.
  expect(packed.manifest.layers.flatMap(({ tensors }) => tensors.filter(({ sliceCrcs }) => sliceCrcs))).toEqual([])
  expect(packed.manifest.layers.flatMap(({ tensors }) => tensors)).toMatchObject([
    { name: 'blk.0.a', dtype: 'type 344', shape: [9], lengthBytes: 32 },
    { name: 'blk.0.ffn_up_exps.weight', dtype: 'type 137', shape: [2, 3, 2], lengthBytes: 32 },
    { name: 'blk.1.a', dtype: 'Q4_2 (retired)', shape: [4], lengthBytes: 32 },
    { name: 'output.weight', dtype: 'type 4294967295', shape: [7], lengthBytes: 7 },
  ])
  for (const { name } of model.tensors) {
    expect(Buffer.from(await loadTensor(packed, name))).toEqual(Buffer.from(await tensorBytes(model, name)))
  }
  const names: string[] = []
  for await (using lease of streamLayers(packed)) names.push(lease.name)
  expect(names).toEqual(['layer 0', 'layer 1', 'output'])
})

test('an aligned GGUF keeps the numbers of unknown types, and their bytes', async () => {
  const model = await oddModel()
  const written: Uint8Array[] = []
  const write = (bytes: Uint8Array) => {
    written.push(bytes.slice())
    return Promise.resolve({ bytesWritten: bytes.byteLength })
  }
  await writeAlignedGguf({ write }, model)
  const aligned = await openModel(memorySource(concat(...written)))
  expect(aligned.tensors.map(({ name, dtype, shape }) => [name, dtype, shape])).toEqual(
    model.tensors.map(({ name, dtype, shape }) => [name, dtype, shape]),
  )
  for (const { name } of model.tensors) {
    const before = await tensorBytes(model, name)
    expect(Buffer.from((await tensorBytes(aligned, name)).subarray(0, before.byteLength))).toEqual(Buffer.from(before))
  }
})

test('a safetensors tensor of unknown dtype has the bytes that its file lists', async () => {
  const file = safetensors(
    '{"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"b":{"dtype":"Q9","shape":[8],"data_offsets":[1,4]}}',
    4,
  )
  const memory = new MemoryNamespace()
  await pack(await openModel(memorySource(file)), memory.namespace)
  const packed = (await openImage(memory.namespace)).model()
  expect(await loadTensor(packed, 'b')).toHaveLength(3)
})
