import { describe, expect, test } from 'vitest'
import { groupLayers, type Tensor } from './index.js'

const tensor = (name: string, lengthBytes = 1): Tensor => ({
  name,
  dtype: 'U8',
  shape: [lengthBytes],
  part: 0,
  offsetBytes: 0,
  lengthBytes,
  opaque: false,
})

const grouped = (...names: string[]): string[] =>
  groupLayers(names.map((name) => tensor(name))).map(
    ({ name, tensors }) => `${name}: ${tensors.map((member) => member.name).join(' ')}`,
  )

describe('groupLayers', () => {
  test('returns layers in the order of computation, with blocks sorted by number', () => {
    expect(grouped('output.weight', 'blk.10.a', 'blk.9.a', 'blk.0.a', 'token_embd.weight')).toEqual([
      'embedding: token_embd.weight',
      'layer 0: blk.0.a',
      'layer 9: blk.9.a',
      'layer 10: blk.10.a',
      'output: output.weight',
    ])
  })

  test('keeps the file order of tensors, and adds their lengths', () => {
    const layers = groupLayers([tensor('blk.0.b', 5), tensor('blk.1.a', 3), tensor('blk.0.a', 2)])
    expect(layers.map(({ tensors, lengthBytes }) => [tensors.map(({ name }) => name), lengthBytes])).toEqual([
      [['blk.0.b', 'blk.0.a'], 7],
      [['blk.1.a'], 3],
    ])
  })

  test.each([
    'blk.7.attn_q.weight',
    'model.layers.7.mlp.up_proj.weight',
    'transformer.h.7.attn.c_attn.weight',
    'h.7.ln_1.weight',
    'layers.7.attention.wq.weight',
    'gpt_neox.layers.7.mlp.weight',
    'bert.encoder.layer.7.output.dense.weight',
    'model.language_model.layers.7.mlp.experts.3.w1.weight',
  ])('assigns %s to layer 7', (name) => {
    expect(grouped(name)).toEqual([`layer 7: ${name}`])
  })

  test.each([
    'token_embd.weight',
    'token_embd_norm.weight',
    'rope_freqs.weight',
    'model.embed_tokens.weight',
    'transformer.wte.weight',
    'wpe.weight',
    'bert.embeddings.LayerNorm.weight',
  ])('assigns %s to the embedding', (name) => {
    expect(grouped(name)).toEqual([`embedding: ${name}`])
  })

  test.each([
    'output_norm.weight',
    'lm_head.weight',
    'model.norm.weight',
    'blk.07.a',
    'blk.x.a',
    'blk.12345678.a',
    'xblk.1.a',
  ])('assigns %s to the output', (name) => {
    expect(grouped(name)).toEqual([`output: ${name}`])
  })

  test('returns the layers of a second stack first, such as an image encoder', () => {
    const layers = groupLayers([tensor('blk.0.a', 9), tensor('v.blk.1.a'), tensor('v.blk.0.a')])
    expect(layers.map(({ name }) => name)).toEqual(['v.blk layer 0', 'v.blk layer 1', 'layer 0'])
  })

  test('returns every tensor exactly once', () => {
    const names = ['output.weight', 'blk.1.a', 'x', 'blk.0.a', 'wte.weight', 'v.blk.0.a']
    const members = groupLayers(names.map((name) => tensor(name))).flatMap(({ tensors }) =>
      tensors.map(({ name }) => name),
    )
    expect(members.sort()).toEqual(names.sort())
  })
})
