import { describe, expect, test } from 'vitest'
import { Catalogue, ExtentNotFoundError } from '../src/formats/index.js'
import {
  loadPlanFor,
  modelInPlace,
  openImage,
  openLoader,
  planStream,
  streamLayers,
  type StoredModel,
  type Verification,
} from '../src/index.js'
import { pack } from '../src/image/index.js'
import { MemoryNamespace } from './memory-namespace.js'
import { DENSE, EXPERTS, LAYERS, moeFile, moeModel, SLICE_BYTES, STACKS } from './moe-model.js'
import { tensorBytes } from './models.js'

const MIB = 1 << 20
/** An error of a wrong argument. */
const INVALID = expect.objectContaining({ code: 'ERR_GPUNVME_INVALID_ARGUMENT' }) as Error

interface Case {
  readonly how: string
  readonly verify: Verification
  readonly open: (shapes?: Parameters<typeof moeModel>[0]) => Promise<StoredModel>
}

describe.each<Case>([
  {
    how: 'in an image',
    verify: 'full',
    async open(shapes) {
      const { namespace } = new MemoryNamespace({ capacityBytes: 24 * MIB })
      await pack(await moeModel(shapes), namespace)
      return (await openImage(namespace)).model()
    },
  },
  {
    how: 'in its original file',
    verify: 'off',
    async open(shapes) {
      const { namespace, media } = new MemoryNamespace({ capacityBytes: 24 * MIB })
      const file = moeFile(shapes)
      media.set(file, 512)
      const run = { fileOffsetBytes: 0, deviceOffsetBytes: 512, lengthBytes: file.length }
      return modelInPlace(new Catalogue(await moeModel(shapes)), namespace, [[run]])
    },
  },
])('a model $how', ({ open, verify }) => {
  let opened: Promise<StoredModel> | undefined
  const stored = () => (opened ??= open())

  test('lists the experts of a layer, and none of a dense layer', async () => {
    const model = await stored()
    expect(model.experts(0)).toEqual(Array.from({ length: EXPERTS }, (_, expert) => expert))
    expect(model.experts('layer 1')).toEqual(model.experts(0))
    expect(model.experts('embedding')).toEqual([])
    expect(() => model.experts(LAYERS)).toThrow(ExtentNotFoundError)
    expect(() => model.expert(0, EXPERTS)).toThrow(ExtentNotFoundError)
  })

  test('the model names the slices of an expert', async () => {
    const { name, pieces } = (await stored()).expert(1, 7)
    expect(name).toBe('layer 1 expert 7')
    expect(pieces.map(({ name, shape }) => [name, shape])).toEqual(
      STACKS.map((stack) => [`blk.1.${stack}.weight[7]`, [SLICE_BYTES]]),
    )
  })

  test('loads the dense part of a layer without reading the experts', async () => {
    const model = await stored()
    const dense = model.layer(1, { experts: false })
    expect(dense.name).toBe('layer 1 without experts')
    await using loader = openLoader(model, { verify, slots: 1 })
    using lease = await loader.request(dense).lease()
    expect(lease.verified).toBe(verify === 'full')
    expect(lease.tensors.map(({ name }) => name)).toEqual(DENSE.map((name) => `blk.1.${name}.weight`))
    const file = await moeModel()
    for (const { name } of lease.tensors) {
      expect(Buffer.compare(lease.tensor(name), await tensorBytes(file, name))).toBe(0)
    }
    // Verification reads complete chunks of 1 MiB: the first and the last one or two of the layer.
    const layerBytes = loadPlanFor(model.store, model.layer(1), { verify }).readBytes
    expect(lease.statistics.bytes).toBeLessThan(verify === 'full' ? layerBytes * 0.6 : 64 << 10)
  })

  test('returns a layer without experts as it is', async () => {
    const model = await stored()
    expect(model.layer('embedding', { experts: false })).toEqual(model.layer('embedding'))
    expect(model.layer(0, {})).toEqual(model.layer(0))
    expect(model.layer(0, { experts: true })).toEqual(model.layer(0))
  })

  test.each<[string, unknown]>([
    ['an unknown option', { expert: false }],
    ['an option of another type', { experts: 'no' }],
    ['options that are not an object', false],
  ])('rejects %s', async (_, options) => {
    const model = await stored()
    expect(() => model.layer(0, options as object)).toThrow(INVALID)
    expect(() => model.layer({} as never)).toThrow(INVALID)
  })

  test('rejects the dense part of a layer whose stacks have different numbers of experts', async () => {
    const model = await open({ ffn_up_exps: [4, 100], ffn_down_exps: [3, 100] })
    for (const call of [
      () => model.experts(0),
      () => model.expert(0, 0),
      () => model.layer(0, { experts: false }),
      () => planStream(model, { experts: false, verify }),
    ]) {
      expect(call).toThrow(expect.objectContaining({ code: 'ERR_GPUNVME_UNEVEN_EXPERTS' }))
    }
    expect(model.layer(0).pieces).toHaveLength(2)
  })

  test('streams the dense parts of its layers', async () => {
    const model = await stored()
    const shape = planStream(model, { experts: false, verify })
    expect(shape.layers).toEqual(planStream(model, { verify }).layers)
    const names: string[] = []
    const stream = streamLayers(model, { experts: false, verify })
    for await (using lease of stream) names.push(...lease.tensors.map(({ name }) => name))
    const dense = Array.from({ length: LAYERS }, (_, layer) => DENSE.map((name) => `blk.${layer}.${name}.weight`))
    expect(names).toEqual(['token_embd.weight', ...dense.flat()])
    expect(stream.statistics.bytes).toBe(shape.totalBytes)
    expect(() => streamLayers(model, { experts: 1 as never, verify })).toThrow(INVALID)
  })
})
