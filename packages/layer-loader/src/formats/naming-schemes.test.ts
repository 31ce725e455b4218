import { describe, expect, test } from 'vitest'
import { concat, entry, ggufHead, info, padTo, text, u32 } from '../../test/formats/bytes.js'
import { Catalogue, groupLayers, isMtpLayer, memorySource, NAMING_SCHEMES, openModel, type Tensor } from './index.js'
import { rulesOf } from './naming.js'

const tensor = (name: string, shape: readonly number[] = [8, 2, 4]): Tensor => {
  const lengthBytes = shape.reduce((product, length) => product * length, 1)
  return { name, dtype: 'U8', shape, part: 0, offsetBytes: 0, lengthBytes, opaque: false }
}

/** Returns the tensor names of each group, in the order of the groups. */
const grouped = (names: readonly string[]): Record<string, string[]> =>
  Object.fromEntries(
    groupLayers(names.map((name) => tensor(name))).map(({ name, tensors }) => [name, tensors.map(({ name }) => name)]),
  )

/** Published tensor names of each model, a few of each kind, and the group that each belongs to. */
const MODELS: Record<string, Record<string, string[]>> = {
  'DeepSeek-V4': {
    embedding: ['embed.weight'],
    'layer 0': ['layers.0.attn.wq_a.weight', 'layers.0.ffn.experts.3.w1.weight'],
    'layer 1': ['layers.1.attn.wq_a.weight'],
    output: ['norm.weight', 'head.weight', 'hc_head_fn', 'hc_head_base', 'hc_head_scale'],
    'mtp layer 0': [
      'mtp.0.attn.wq_a.weight',
      'mtp.0.ffn.experts.0.w1.weight',
      'mtp.0.embed.weight',
      'mtp.0.hc_head_fn',
    ],
    'mtp layer 1': ['mtp.1.ffn.experts.0.w1.weight'],
  },
  'Qwen3.5': {
    embedding: ['model.language_model.embed_tokens.weight'],
    'model.visual.blocks layer 0': ['model.visual.blocks.0.attn.qkv.weight'],
    'layer 0': [
      'model.language_model.layers.0.mlp.experts.gate_up_proj',
      'model.language_model.layers.0.mlp.gate.weight',
    ],
    output: ['model.language_model.norm.weight', 'lm_head.weight'],
    'mtp layer 0': ['mtp.layers.0.mlp.gate.weight', 'mtp.layers.0.self_attn.q_proj.weight'],
    mtp: ['mtp.fc.weight', 'mtp.norm.weight', 'mtp.pre_fc_norm_hidden.weight'],
  },
  'Nemotron-H': {
    embedding: ['backbone.embeddings.weight'],
    'layer 0': ['backbone.layers.0.mixer.in_proj.weight'],
    'layer 1': ['backbone.layers.1.mixer.experts.7.up_proj.weight'],
    output: ['backbone.norm_f.weight', 'lm_head.weight'],
    'mtp layer 0': ['mtp.layers.0.eh_proj.weight', 'mtp.layers.0.mixer.q_proj.weight'],
    'mtp layer 1': ['mtp.layers.1.mixer.experts.0.up_proj.weight'],
  },
  'DeepSeek-V3, GLM-4.5': {
    embedding: ['model.embed_tokens.weight'],
    'layer 60': ['model.layers.60.mlp.experts.255.up_proj.weight'],
    output: ['model.norm.weight', 'lm_head.weight'],
    'mtp layer 61': [
      'model.layers.61.embed_tokens.weight',
      'model.layers.61.eh_proj.weight',
      'model.layers.61.mlp.gate.weight',
    ],
  },
  'MiMo, Ernie 4.5': {
    'layer 0': ['model.layers.0.self_attn.q_proj.weight', 'model.layers.0.mlp.gate.weight'],
    'mtp layer 0': [
      'model.mtp_layers.0.self_attn.o_proj.weight',
      'model.mtp_block.0.mlp.up_proj.weight',
      'model.mtp_emb_norm.0.weight',
    ],
  },
  'Gemma 3n, Gemma 4': {
    embedding: [
      'model.language_model.embed_tokens.weight',
      'model.language_model.embed_tokens_per_layer.weight',
      'model.language_model.per_layer_model_projection.weight',
      'model.language_model.per_layer_projection_norm.weight',
      'model.language_model.altup_projections.0.weight',
    ],
    'layer 0': ['model.language_model.layers.0.per_layer_projection.weight'],
    output: ['model.language_model.altup_unembed_projections.0.weight', 'model.language_model.norm.weight'],
  },
  'Gemma 3n as GGUF': {
    embedding: [
      'token_embd.weight',
      'per_layer_token_embd.weight',
      'per_layer_model_proj.weight',
      'per_layer_proj_norm.weight',
      'altup_proj.weight',
    ],
    'layer 0': ['blk.0.inp_gate.weight', 'blk.0.proj.weight'],
    output: ['altup_unembd_proj.weight', 'output_norm.weight'],
  },
  'Phi-3 as GGUF': {
    embedding: ['token_embd.weight', 'rope_factors_long.weight', 'rope_factors_short.weight'],
    'layer 0': ['blk.0.attn_qkv.weight'],
    output: ['output_norm.weight', 'output.weight'],
  },
  'gpt-oss of OpenAI': {
    embedding: ['embedding.weight'],
    'layer 0': ['block.0.mlp.mlp1_weight.blocks', 'block.0.mlp.gate.weight', 'block.0.attn.sinks'],
    output: ['norm.scale', 'unembedding.weight'],
  },
}

test.each(Object.entries(MODELS))('groupLayers sorts the tensors of %s in the order of a pass', (_, groups) => {
  // Reversed, so that the order of the file is not that of the groups.
  const names = Object.values(groups).flat()
  const found = grouped(names.toReversed())
  expect(Object.keys(found)).toEqual(Object.keys(groups))
  for (const [group, members] of Object.entries(groups)) expect(found[group]!.toSorted()).toEqual(members.toSorted())
})

test('isMtpLayer is true for the names of MTP layers only', () => {
  expect(['mtp', 'mtp layer 0', 'mtp layer 61'].filter(isMtpLayer)).toHaveLength(3)
  expect(['embedding', 'layer 0', 'mtp.layers layer 0', 'v.blk layer 1', 'output'].filter(isMtpLayer)).toEqual([])
})

test('the MTP layers of a file without other layers are ordinary layers', () => {
  expect(Object.keys(grouped(['blk.61.nextn.eh_proj.weight', 'blk.61.attn_q.weight']))).toEqual(['layer 61'])
})

test.each([
  ['MLX', 'model.layers.0.mlp.switch_mlp.gate_proj.weight'],
  ['MLX', 'model.layers.0.mlp.switch_mlp.down_proj.scales'],
  ['MLX', 'backbone.layers.0.mixer.switch_mlp.fc1.weight'],
  ['Step-3.5', 'model.layers.0.moe.gate_proj.weight'],
  ['Step-3.5', 'model.layers.0.moe.down_proj.weight_scale_inv'],
  ['Granite', 'model.layers.0.block_sparse_moe.input_linear.weight'],
  ['Granite', 'model.layers.0.block_sparse_moe.output_linear.weight'],
  ['gpt-oss of OpenAI', 'block.0.mlp.mlp1_weight'],
  ['gpt-oss of OpenAI', 'block.0.mlp.mlp2_weight.blocks'],
  ['gpt-oss of OpenAI', 'block.0.mlp.mlp2_weight.scales'],
  ['gpt-oss of OpenAI', 'block.0.mlp.mlp1_bias'],
  ['gpt-oss', 'model.layers.0.mlp.experts.down_proj_blocks'],
  ['Qwen3.5', 'model.language_model.layers.0.mlp.experts.gate_up_proj'],
  ['GGUF', 'blk.0.ffn_gate_up_exps.weight'],
])('%s: %s is recognised as stacked experts', (_, name) => {
  expect(rulesOf().expertIn(name)).toBe('all')
})

test.each([
  ['layers.0.ffn.experts.17.w1.weight', 17],
  ['mtp.0.ffn.experts.17.w1.scale', 17],
  ['backbone.layers.1.mixer.experts.17.up_proj.weight', 17],
  ['model.layers.3.block_sparse_moe.experts.17.w2.weight', 17],
  ['blk.3.ffn_down.17.weight', 17],
  ['model.layers.0.moe.gate.weight', undefined],
  ['model.layers.0.moe.router_bias', undefined],
  ['model.layers.0.share_expert.gate_proj.weight', undefined],
  ['model.layers.0.shared_mlp.input_linear.weight', undefined],
  ['model.layers.0.block_sparse_moe.router.layer.weight', undefined],
  ['model.layers.0.mlp.shared_experts.up_proj.weight', undefined],
  ['blk.0.ffn_up_shexp.weight', undefined],
  ['block.0.mlp.gate.weight', undefined],
])('%s is recognised as a tensor of expert %s', (name, expert) => {
  expect(rulesOf().expertIn(name)).toBe(expert)
})

describe('the option `naming`', () => {
  const names = ['embedding.weight', 'block.0.mlp.mlp1_weight', 'model.layers.0.moe.up_proj.weight', 'mtp.0.x.weight']

  test('applies one scheme only', () => {
    const tensors = names.map((name) => tensor(name))
    expect(groupLayers(tensors, { naming: 'gpt-oss' }).map(({ name }) => name)).toEqual([
      'embedding',
      'layer 0',
      'output',
    ])
    expect(groupLayers(tensors, { naming: 'deepseek' }).map(({ name }) => name)).toEqual(['output', 'mtp layer 0'])
    expect(rulesOf('gpt-oss').expertIn('model.layers.0.moe.up_proj.weight')).toBeUndefined()
  })

  test('the naming of a model applies to its catalogue, unless the catalogue has its own', async () => {
    const source = memorySource(
      padTo(192, concat(ggufHead(2, 0), info('block.0.mlp.mlp1_weight', [2, 2], 24, 0), info('blk.1.a', [4], 24, 32))),
    )
    const model = await openModel(source, { naming: 'gpt-oss' })
    expect(model.layers.map(({ name }) => name)).toEqual(['layer 0', 'output'])
    expect(new Catalogue(model).experts(0)).toEqual([0, 1])
    expect(new Catalogue(model, { naming: 'gguf' }).layers).toEqual(['layer 1', 'output'])
  })

  test('rejects an unknown scheme, and lists the known ones', async () => {
    const source = memorySource(padTo(96, concat(ggufHead(1, 0), info('a', [4], 24, 0))))
    await expect(openModel(source, { naming: 'llama' as 'gguf' })).rejects.toThrow(
      'naming: expected one of gguf, deepseek, gpt-oss, gemma, nemotron-h, step, granite, mlx, transformers, got "llama"',
    )
  })
})

describe('nextn_predict_layers of a GGUF', () => {
  const model = (blocks: number, nextn: number) =>
    openModel(
      memorySource(
        padTo(
          512,
          concat(
            ggufHead(3, 3),
            entry('general.architecture', 8, text('glm4moe')),
            entry('glm4moe.block_count', 4, u32(blocks)),
            entry('glm4moe.nextn_predict_layers', 4, u32(nextn)),
            ...[0, 1, 2].map((number) => info(`blk.${number}.attn_q.weight`, [4], 24, 32 * number)),
          ),
        ),
      ),
    )
  const namesOf = async (...counts: [number, number]) => (await model(...counts)).layers.map(({ name }) => name)

  test('makes the last blocks MTP layers', async () => {
    expect(await namesOf(3, 1)).toEqual(['layer 0', 'layer 1', 'mtp layer 2'])
    expect(await namesOf(3, 2)).toEqual(['layer 0', 'mtp layer 1', 'mtp layer 2'])
  })

  test('nextn_predict_layers of a GGUF is ignored if it is 0 or not less than the number of blocks', async () => {
    for (const nextn of [0, 3, 4_000_000_000])
      expect(await namesOf(3, nextn)).toEqual(['layer 0', 'layer 1', 'layer 2'])
  })
})

test('every naming scheme has a unique name, models and a source', () => {
  expect(new Set(NAMING_SCHEMES.map(({ name }) => name)).size).toBe(NAMING_SCHEMES.length)
  for (const { models, source } of NAMING_SCHEMES) {
    expect(models.length).toBeGreaterThan(0)
    expect(source.length).toBeGreaterThan(0)
  }
})
