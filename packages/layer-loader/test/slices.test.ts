/* oxlint-disable typescript/no-unsafe-member-access, typescript/no-unsafe-call, typescript/no-unsafe-assignment -- JSON changed into values that no type describes */
import { crc32 } from 'node:zlib'
import { expect, test } from 'vitest'
import { memorySource, openModel, type Model, type OpenModelOptions } from '../src/formats/index.js'
import { loadTensor, openImage, openLoader } from '../src/index.js'
import { pack, SliceMismatchError, verifyImage } from '../src/image/index.js'
import type { PackedLayer } from '../src/image/manifest.js'
import { safetensors } from './formats/bytes.js'
import { MemoryNamespace } from './memory-namespace.js'
import { smallModel, tensorBytes, type TensorSize } from './models.js'
import { tampered, type Json } from './tamper.js'

const NAME = 'blk.0.ffn_up_exps.weight'
const EXPERTS = 5
/** Slices begin and end inside chunks, and one slice spans three chunks. */
const SLICE_BYTES = 1_500_001

async function expertModel(options?: OpenModelOptions): Promise<Model> {
  const lengthBytes = EXPERTS * SLICE_BYTES
  const header = JSON.stringify({
    [NAME]: { dtype: 'U8', shape: [EXPERTS, SLICE_BYTES], data_offsets: [0, lengthBytes] },
    'blk.0.ffn_up_shexp.weight': { dtype: 'U8', shape: [2, 50], data_offsets: [lengthBytes, lengthBytes + 100] },
  })
  const file = safetensors(header, lengthBytes + 100)
  file.forEach((_, index) => {
    if (index >= file.length - lengthBytes) file[index] = (Math.imul(index, 2_654_435_761) >>> 11) & 0xff
  })
  return openModel(memorySource(file, 'experts.safetensors'), options)
}

test('an image has a checksum for each expert of a stacked tensor, but not for shared experts', async () => {
  const { namespace } = new MemoryNamespace({ capacityBytes: 16 << 20 })
  const model = await expertModel()
  await pack(model, namespace)
  const { layers } = (await openImage(namespace)).model().manifest
  // The part that every token needs comes first.
  const [shared, experts] = layers.flatMap(({ tensors }) => tensors)
  const bytes = await tensorBytes(model, NAME)
  const expected = Array.from({ length: EXPERTS }, (_, expert) =>
    crc32(bytes.subarray(expert * SLICE_BYTES, (expert + 1) * SLICE_BYTES)),
  )
  expect(experts).toMatchObject({ name: NAME, sliceCrcs: Uint32Array.from(expected) })
  expect(shared).not.toHaveProperty('sliceCrcs')
  expect(await verifyImage(namespace)).toMatchObject({ ok: true, problems: [] })
})

test('verifyImage reports a wrong slice checksum with tensor and slice number', async () => {
  const memory = await tampered({
    capacityBytes: 32 << 20,
    model: await expertModel(),
    manifest: (manifest: Json) => {
      const [, tensor] = manifest.layers[0].tensors
      tensor.slices = `${tensor.slices.slice(0, 8)}0badc0de${tensor.slices.slice(16)}`
    },
  })
  const { ok, problems } = await verifyImage(memory.namespace)
  expect({ ok, count: problems.length }).toEqual({ ok: false, count: 1 })
  expect(problems[0]).toBeInstanceOf(SliceMismatchError)
  expect(problems[0]).toMatchObject({ tensor: NAME, slice: 1, expected: 0x0bad_c0de, category: 'verification' })
  expect(problems[0]!.message).toMatch(/NSID 1 {2}LBA 0x/)
})

test('verifyImage reports a damaged chunk only once, without its slices', async () => {
  const memory = new MemoryNamespace({ capacityBytes: 16 << 20 })
  const { manifest } = await pack(await expertModel(), memory.namespace)
  const [{ offsetBytes, tensors }] = manifest.layers as [PackedLayer]
  memory.media[offsetBytes + tensors[1]!.offsetBytes + SLICE_BYTES + 5]! ^= 1
  const { problems } = await verifyImage(memory.namespace)
  expect(problems.map(({ code }) => code)).toEqual(['ERR_GPUNVME_VERIFICATION'])
})

test('an expert without slice checksums of its own is verified by chunks', async () => {
  const { namespace } = new MemoryNamespace({ capacityBytes: 16 << 20 })
  // The stack counts as a tensor of one expert, so that it has one checksum.
  const original = await expertModel({ naming: { expert: /^blk\.(\d+)\.ffn_up_exps/ } })
  await pack(original, namespace)
  const model = (await openImage(namespace)).model()
  expect(model.manifest.layers[0]!.tensors[1]!.sliceCrcs).toHaveLength(1)
  const extent = model.expert(0, 3)
  await using loader = openLoader(model, { slots: 1, slotBytes: 8 << 20 })
  const lease = await loader.request(extent).lease()
  const stack = await tensorBytes(original, NAME)
  const expected = stack.subarray(3 * SLICE_BYTES, 4 * SLICE_BYTES)
  expect(Buffer.from(lease.tensor(`${NAME}[3]`)).equals(expected)).toBe(true)
  lease.release()
})

test('tensors that are read together are adjacent in an image: the dense part, then each expert', async () => {
  const { namespace } = new MemoryNamespace({ capacityBytes: 16 << 20 })
  const names = ['attn.a', 'experts.0.up', 'experts.1.up', 'experts.0.down', 'experts.1.down', 'norm', 'shared.up']
  const model = await smallModel(names.map((name): TensorSize => [`model.layers.0.mlp.${name}`, 5000]))
  const { manifest } = await pack(model, namespace)
  expect(manifest.layers[0]!.tensors.map(({ name }) => name.slice('model.layers.0.mlp.'.length))).toEqual([
    ...['attn.a', 'norm', 'shared.up'],
    ...['experts.0.up', 'experts.0.down', 'experts.1.up', 'experts.1.down'],
  ])
  expect(await verifyImage(namespace)).toMatchObject({ ok: true, problems: [] })
  for (const { name } of model.tensors) {
    const loaded = await loadTensor((await openImage(namespace)).model(), name)
    expect(Buffer.compare(loaded, await tensorBytes(model, name))).toBe(0)
  }
})
