import { describe, expect, test } from 'vitest'
import { concat, entry, ggufHead, info, padTo, safetensors, text } from '../../test/formats/bytes.js'
import { MemoryFolder } from '../../test/formats/memory-folder.js'
import {
  Catalogue,
  ExtentNotFoundError,
  memorySource,
  openModel,
  openModelParts,
  readExtent,
  type CatalogueOptions,
  type Model,
  type ModelExtent,
} from './index.js'

const F32 = 0
const F16 = 1
const Q8_0 = 8

/** Name, dimensions as stored in GGUF (innermost first), type, and length. */
type Row = readonly [name: string, dimensions: readonly number[], type: number, lengthBytes: number]

/** Opens a GGUF with tensors aligned to 32 bytes. Each data byte is its offset modulo 256. */
function gguf(rows: readonly Row[], architecture = 'llama'): Promise<Model> {
  let end = 0
  const infos = rows.map(([name, dimensions, type, lengthBytes]) => {
    const offset = Math.ceil(end / 32) * 32
    end = offset + lengthBytes
    return info(name, dimensions, type, offset)
  })
  const header = concat(ggufHead(rows.length, 1), entry('general.architecture', 8, text(architecture)), ...infos)
  const start = Math.ceil(header.byteLength / 32) * 32
  const data = Uint8Array.from({ length: end }, (_, index) => index & 0xff)
  return openModel(memorySource(concat(padTo(start, header), data), 'moe.gguf'))
}

/** A layer with four experts, and dense layers. Offsets in the data: 0, 160, 192, 224, 512, 640, 736, 768, 800. */
const MIXTURE: readonly Row[] = [
  ['token_embd.weight', [32, 4], Q8_0, 136],
  ['blk.0.attn_q.weight', [8], F32, 32],
  ['blk.1.attn_q.weight', [7], F32, 28],
  ['blk.1.ffn_gate_exps.weight', [32, 2, 4], Q8_0, 272],
  ['blk.1.ffn_down_exps.weight', [5, 3, 4], F16, 120],
  ['blk.1.ffn_down_exps.bias', [5, 4], F32, 80],
  ['blk.1.ffn_down_exps.scale', [4], F32, 16],
  ['blk.1.ffn_up_shexp.weight', [8], F32, 32],
  ['blk.1.ffn_gate_inp.weight', [4], F32, 16],
]

const catalogueOf = async (rows = MIXTURE, options?: CatalogueOptions): Promise<Catalogue> =>
  new Catalogue(await gguf(rows), options)

/** Returns the pieces as rows: tensor, offset from the start of the data, length, offset in the destination. */
function pieces({ model }: Catalogue, extent: ModelExtent): unknown[] {
  const start = model.parts[0].headerBytes
  return extent.pieces.map(({ tensor, part, offsetBytes, lengthBytes, intoBytes }) => {
    expect(part).toBe(0)
    return [tensor?.name, offsetBytes - start, lengthBytes, intoBytes]
  })
}

/** Opens a safetensors file of tensors with these shapes. */
function safetensorsModel(shapes: Readonly<Record<string, readonly number[]>>, dtype = 'U8', bits = 8): Promise<Model> {
  let end = 0
  const entries = Object.entries(shapes).map(([name, shape]) => {
    const begin = end
    end += (shape.reduce((product, length) => product * length, 1) * bits) / 8
    return `"${name}":${JSON.stringify({ dtype, shape, data_offsets: [begin, end] })}`
  })
  return openModel(memorySource(safetensors(`{${entries.join(',')}}`, end), 'model.safetensors'))
}

async function thrownBy(action: () => unknown): Promise<unknown> {
  try {
    await action()
  } catch (error) {
    return error
  }
  return undefined
}

describe('a catalogue returns the extent of', () => {
  test('a tensor, as one piece', async () => {
    const catalogue = await catalogueOf()
    const extent = catalogue.tensor('blk.1.attn_q.weight')
    expect(extent).toMatchObject({ name: 'blk.1.attn_q.weight', kind: 'tensor', lengthBytes: 28 })
    expect(pieces(catalogue, extent)).toEqual([['blk.1.attn_q.weight', 192, 28, 0]])
  })

  test('a layer, by number or name, with every tensor at a multiple of 256', async () => {
    const catalogue = await catalogueOf()
    expect(catalogue.layers).toEqual(['embedding', 'layer 0', 'layer 1'])
    const extent = catalogue.layer(1)
    expect(extent).toEqual(catalogue.layer('layer 1'))
    expect(extent).toMatchObject({ name: 'layer 1', kind: 'layer', lengthBytes: 1792 + 16 })
    expect(pieces(catalogue, extent)).toEqual([
      ['blk.1.attn_q.weight', 192, 28, 0],
      ['blk.1.ffn_gate_exps.weight', 224, 272, 256],
      ['blk.1.ffn_down_exps.weight', 512, 120, 768],
      ['blk.1.ffn_down_exps.bias', 640, 80, 1024],
      ['blk.1.ffn_down_exps.scale', 736, 16, 1280],
      ['blk.1.ffn_up_shexp.weight', 768, 32, 1536],
      ['blk.1.ffn_gate_inp.weight', 800, 16, 1792],
    ])
    expect(pieces(catalogue, catalogue.layer('embedding'))).toEqual([['token_embd.weight', 0, 136, 0]])
  })

  test('a layer without its routed experts, but with shared experts, router and scales', async () => {
    const catalogue = await catalogueOf(MIXTURE, { alignmentBytes: 1 })
    const extent = catalogue.layer(1, { experts: false })
    expect(extent).toMatchObject({ name: 'layer 1 without experts', kind: 'layer', lengthBytes: 92 })
    expect(pieces(catalogue, extent)).toEqual([
      ['blk.1.attn_q.weight', 192, 28, 0],
      ['blk.1.ffn_down_exps.scale', 736, 16, 28],
      ['blk.1.ffn_up_shexp.weight', 768, 32, 44],
      ['blk.1.ffn_gate_inp.weight', 800, 16, 76],
    ])
  })

  test('an expert, with its slice of every stacked tensor', async () => {
    const catalogue = await catalogueOf(MIXTURE, { alignmentBytes: 16 })
    expect(catalogue.experts(1)).toEqual([0, 1, 2, 3])
    expect(catalogue.experts(0)).toEqual([])
    const extent = catalogue.expert(1, 2)
    // 2 rows of 34 bytes, 3 rows of 10, one row of 20; expert 2 is after two others.
    expect(extent).toMatchObject({ name: 'layer 1 expert 2', kind: 'expert', lengthBytes: 112 + 20 })
    expect(pieces(catalogue, extent)).toEqual([
      ['blk.1.ffn_gate_exps.weight', 224 + 2 * 68, 68, 0],
      ['blk.1.ffn_down_exps.weight', 512 + 2 * 30, 30, 80],
      ['blk.1.ffn_down_exps.bias', 640 + 2 * 20, 20, 112],
    ])
  })

  test('all experts, which together cover the stacked tensors exactly', async () => {
    const catalogue = await catalogueOf()
    const all = catalogue.experts(1).flatMap((expert) => [...catalogue.expert(1, expert).pieces])
    for (const name of ['blk.1.ffn_gate_exps.weight', 'blk.1.ffn_down_exps.weight', 'blk.1.ffn_down_exps.bias']) {
      const slices = all.filter(({ tensor }) => tensor?.name === name)
      let next = slices[0]!.tensor!.offsetBytes
      for (const { offsetBytes, lengthBytes } of slices) {
        expect(offsetBytes).toBe(next)
        next += lengthBytes
      }
      expect(next).toBe(slices[0]!.tensor!.offsetBytes + slices[0]!.tensor!.lengthBytes)
    }
  })

  test('a range of bytes of a part', async () => {
    const catalogue = await catalogueOf()
    const extent = catalogue.range(0, 100, 50)
    expect(extent).toEqual({
      name: 'part 0 [100, 150)',
      kind: 'range',
      pieces: [
        {
          ...{ tensor: undefined, name: 'part 0 [100, 150)', dtype: 'bytes', shape: [50] },
          ...{ part: 0, offsetBytes: 100, lengthBytes: 50, intoBytes: 0 },
        },
      ],
      lengthBytes: 50,
    })
    expect(() => catalogue.range(1, 0, 1)).toThrow('part: expected 0 to 0, got 1')
    expect(() => catalogue.range(0, 0, 2 ** 40)).toThrow(RangeError)
  })

  test('an empty tensor, as an empty piece', async () => {
    const model = await safetensorsModel({ 'model.layers.0.a': [3], 'model.layers.0.b': [0], 'model.layers.0.c': [2] })
    const { lengthBytes, pieces } = new Catalogue(model).layer(0)
    expect(pieces.map((piece) => [piece.lengthBytes, piece.intoBytes])).toContainEqual([0, 256])
    expect(lengthBytes).toBe(258)
  })
})

describe('readExtent', () => {
  test('reads each piece to its offset, and does not change bytes between them', async () => {
    const catalogue = await catalogueOf(MIXTURE, { alignmentBytes: 16 })
    const into = new Uint8Array(200).fill(0xa5)
    await readExtent(catalogue.model, catalogue.expert(1, 2), into)
    // Data bytes are their offsets modulo 256.
    expect([...into.subarray(0, 3)]).toEqual([360 & 0xff, 361 & 0xff, 362 & 0xff])
    expect([...into.subarray(66, 82)]).toEqual([
      426 & 0xff,
      427 & 0xff,
      ...Array<number>(12).fill(0xa5),
      572 & 0xff,
      573 & 0xff,
    ])
    expect([...into.subarray(131, 134)]).toEqual([699 & 0xff, 0xa5, 0xa5])
  })

  test('reads from several parts', async () => {
    const shard = (name: string, dataByte: number): Uint8Array => {
      const bytes = safetensors(`{"${name}":{"dtype":"U8","shape":[2],"data_offsets":[0,2]}}`, 2)
      return bytes.fill(dataByte, bytes.byteLength - 2)
    }
    const files = {
      'm.safetensors.index.json': Buffer.from('{"weight_map":{"layers.0.a":"y","layers.0.b":"x"}}'),
      x: shard('layers.0.b', 1),
      y: shard('layers.0.a', 2),
    }
    await using model = await openModelParts('m.safetensors.index.json', new MemoryFolder(files).open)
    const extent = new Catalogue(model, { alignmentBytes: 4 }).layer(0)
    expect(extent.pieces.map(({ part, intoBytes }) => [part, intoBytes])).toEqual([
      [0, 0],
      [1, 4],
    ])
    const into = new Uint8Array(6)
    await readExtent(model, extent, into)
    expect([...into]).toEqual([1, 1, 0, 0, 2, 2])
    await expect(readExtent(model, extent, new Uint8Array(5))).rejects.toThrow('into: expected at least 6 bytes')
  })
})

describe('a catalogue finds experts by published names,', () => {
  test.each([
    ['Mixtral', 'model.layers.0.block_sparse_moe.experts.%.w1.weight'],
    ['DeepSeek, Qwen', 'model.layers.0.mlp.experts.%.gate_proj.weight'],
    ['with scales', 'model.layers.0.mlp.experts.%.down_proj.weight_scale_inv'],
    ['with a prefix', 'language_model.model.layers.0.mlp.experts.%.up_proj.weight_packed'],
    ['GGUF of 2023', 'blk.0.ffn_up.%.weight'],
  ])('separate experts: %s', async (_, pattern) => {
    const names = [0, 1, 10].map((expert) => pattern.replace('%', String(expert)))
    const catalogue = new Catalogue(await safetensorsModel(Object.fromEntries(names.map((name) => [name, [5]]))))
    expect(catalogue.experts(0)).toEqual([0, 1, 10])
    expect(catalogue.expert(0, 10).pieces.map(({ tensor }) => tensor?.name)).toEqual([names[2]])
    expect(catalogue.layer(0, { experts: false }).pieces).toEqual([])
  })

  test.each([
    'blk.0.ffn_gate_exps.weight',
    'blk.0.ffn_up_exps.weight',
    'blk.0.ffn_gate_up_exps.weight',
    'blk.0.ffn_down_exps.bias',
    'model.layers.0.mlp.experts.gate_up_proj',
    'model.layers.0.mlp.experts.down_proj_bias',
    'model.layers.0.mlp.experts.gate_up_proj_blocks',
    'model.layers.0.feed_forward.experts.down_proj.weight',
  ])('stacked experts: %s', async (name) => {
    const catalogue = new Catalogue(await safetensorsModel({ [name]: [3, 4] }))
    expect(catalogue.experts(0)).toEqual([0, 1, 2])
    expect(catalogue.expert(0, 1).pieces[0]!.lengthBytes).toBe(4)
  })

  test.each([
    'blk.0.ffn_up_shexp.weight',
    'blk.0.ffn_gate_inp.weight',
    'blk.0.ffn_norm_exps.weight',
    'blk.0.exp_probs_b.bias',
    'model.layers.0.mlp.shared_experts.up_proj.weight',
    'model.layers.0.mlp.shared_expert_gate.weight',
    'model.layers.0.mlp.gate.e_score_correction_bias',
    'blk.0.ffn_up.weight',
  ])('and no experts in: %s', async (name) => {
    const catalogue = new Catalogue(await safetensorsModel({ [name]: [3, 4] }))
    expect(catalogue.experts(0)).toEqual([])
    expect(catalogue.layer(0, { experts: false }).pieces).toHaveLength(1)
  })

  test('and by the patterns of the caller for layers and experts', async () => {
    const model = await safetensorsModel({
      'stage7/moe/all': [2, 3],
      'stage7/moe/3/up': [4],
      'stage7/attn': [5],
      head: [1],
    })
    const naming = { layer: /^stage(\d+)\//g, expert: /\/moe\/(?:(\d+)|all)/ }
    const catalogue = new Catalogue(model, { naming })
    expect(catalogue.layers).toEqual(['layer 7', 'output'])
    expect(catalogue.experts(7)).toEqual([0, 1, 3])
    expect(catalogue.layer(7, { experts: false }).pieces.map(({ tensor }) => tensor?.name)).toEqual(['stage7/attn'])
    expect(() => new Catalogue(model, { naming: { layer: /^(\w+)/ } })).toThrow(
      'naming.layer: expected its first group to be a number, got',
    )
    const words = new Catalogue(model, { naming: { layer: naming.layer, expert: /\/(up|all)/ } })
    expect(() => words.experts(7)).toThrow('naming.expert: expected it to capture a number, got')
  })
})

describe('a catalogue rejects', () => {
  test.each<[string, (catalogue: Catalogue) => unknown, string, readonly string[]]>([
    [
      'a misspelt tensor name',
      (c) => c.tensor('blk.1.atn_q.weight'),
      'tensor "blk.1.atn_q.weight"',
      ['blk.1.attn_q.weight', 'blk.0.attn_q.weight'],
    ],
    [
      'a tensor of a missing block',
      (c) => c.tensor('blk.40.attn_q.weight'),
      'tensor',
      ['blk.1.attn_q.weight', 'blk.0.attn_q.weight'],
    ],
    ['a layer number that is too large', (c) => c.layer(99), 'layer "layer 99"', ['layer 1', 'layer 0']],
    ['a wrong layer name', (c) => c.layer('embeddings'), 'layer "embeddings"', ['embedding']],
    ['the experts of a negative layer', (c) => c.experts(-1), 'layer "layer -1"', []],
    [
      'an expert number that is too large',
      (c) => c.expert(1, 4),
      'expert "layer 1 expert 4"',
      ['layer 1 expert 3', 'layer 1 expert 2'],
    ],
    ['an expert number that is not an integer', (c) => c.expert(1, 0.5), 'expert "layer 1 expert 0.5"', []],
    ['an expert of a dense layer', (c) => c.expert(0, 0), 'expert "layer 0 expert 0"', []],
  ])('%s, and suggests the nearest existing names', async (_, ask, message, nearest) => {
    const error = await thrownBy(async () => ask(await catalogueOf()))
    expect(error).toBeInstanceOf(ExtentNotFoundError)
    expect(error).toMatchObject({ code: 'ERR_GPUNVME_EXTENT_NOT_FOUND', category: 'not-found' })
    expect((error as Error).message).toContain(`The model has no ${message}`)
    expect((error as ExtentNotFoundError).nearest.slice(0, nearest.length)).toEqual(nearest)
  })

  test('experts of a stack of unknown type, but not its layer', async () => {
    const catalogue = await catalogueOf([
      ['blk.0.a', [4], 77, 16],
      ['blk.1.ffn_up_exps.weight', [2, 3], 344, 24],
    ])
    for (const ask of [
      () => catalogue.experts(1),
      () => catalogue.expert(1, 0),
      () => catalogue.layer(1, { experts: false }),
    ]) {
      const error = await thrownBy(ask)
      expect(error).toMatchObject({ code: 'ERR_GPUNVME_UNEVEN_EXPERTS' })
      expect((error as Error).message).toContain('is "type 344", so the length of an expert is unknown')
    }
    expect(catalogue.tensor('blk.0.a').lengthBytes).toBe(32)
    expect(catalogue.layer(0).lengthBytes).toBe(32)
    expect(catalogue.layer(1).lengthBytes).toBe(24)
  })

  test('experts of a layer whose stacks have different numbers of experts', async () => {
    const model = await safetensorsModel({ 'blk.0.ffn_up_exps.weight': [4, 2], 'blk.0.ffn_down_exps.weight': [3, 2] })
    const catalogue = new Catalogue(model)
    for (const ask of [
      () => catalogue.experts(0),
      () => catalogue.expert(0, 0),
      () => catalogue.layer(0, { experts: false }),
    ]) {
      const error = await thrownBy(ask)
      expect(error).toMatchObject({ code: 'ERR_GPUNVME_UNEVEN_EXPERTS' })
      expect(error).toMatchObject({
        code: 'ERR_GPUNVME_UNEVEN_EXPERTS',
        category: 'infeasible',
        headline: expect.stringContaining('"layer 0"') as unknown,
      })
    }
    expect(catalogue.layer(0).pieces).toHaveLength(2)
  })

  test('a stack of more than 65,536 experts', async () => {
    const model = await safetensorsModel({ 'blk.0.ffn_up_exps.weight': [70_000, 1] })
    const error = await thrownBy(() => new Catalogue(model).experts(0))
    expect(error).toMatchObject({ code: 'ERR_GPUNVME_UNEVEN_EXPERTS' })
    expect((error as Error).message).toContain('has 70000 experts; the limit is 65536')
  })

  test('experts that begin inside a byte', async () => {
    const model = await safetensorsModel({ 'blk.0.ffn_up_exps.weight': [2, 3] }, 'F4', 4)
    const error = await thrownBy(() => new Catalogue(model).expert(0, 1))
    expect(error).toMatchObject({ code: 'ERR_GPUNVME_UNEVEN_EXPERTS' })
    expect((error as Error).message).toContain('does not divide into 2 equal runs of bytes')
  })

  test.each([0, -256, 3, 0.5, NaN, Infinity])('an alignment of %d', async (alignmentBytes) => {
    await expect(catalogueOf(MIXTURE, { alignmentBytes })).rejects.toThrow('alignmentBytes: expected a power of two')
  })
})

describe('a catalogue resolves tied weights:', () => {
  test('output.weight is token_embd.weight in a GGUF without it', async () => {
    const catalogue = await catalogueOf()
    expect([...catalogue.aliases].map(([alias, tensor]) => [alias, tensor.name])).toEqual([
      ['output.weight', 'token_embd.weight'],
    ])
    expect(catalogue.tensor('output.weight')).toEqual(catalogue.tensor('token_embd.weight'))
  })

  test.each(['model.embed_tokens.weight', 'transformer.wte.weight', 'tok_embeddings.weight'])(
    'lm_head.weight is %s in a safetensors model without it',
    async (name) => {
      const catalogue = new Catalogue(await safetensorsModel({ [name]: [4] }))
      expect(catalogue.tensor('lm_head.weight').name).toBe(name)
    },
  )

  test('none if the model has an output, is an encoder, or has two embeddings', async () => {
    const own = new Catalogue(
      await safetensorsModel({ 'model.embed_tokens.weight': [4], 'language_model.lm_head.weight': [4] }),
    )
    const encoder = new Catalogue(await gguf(MIXTURE, 'nomic-bert'))
    const two = new Catalogue(await safetensorsModel({ 'a.embed_tokens.weight': [4], 'b.embed_tokens.weight': [4] }))
    for (const { aliases } of [own, encoder, two]) expect([...aliases]).toEqual([])
  })
})
