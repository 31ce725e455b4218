// The tensors of Mixtral-8x22B as published, and their 59 shards, as headers without weights.
//
// Shapes: config.json of mistralai/Mixtral-8x22B-v0.1 (hidden_size 6144, intermediate_size 16384, num_hidden_layers 56,
// num_attention_heads 48, num_key_value_heads 8, num_local_experts 8, num_experts_per_tok 2, vocab_size 32000,
// bfloat16) and the names of transformers' modeling_mixtral.py. The boundaries of the shards are our own: equal numbers
// of bytes.
import { shardsOf } from './sharded-model.mjs'

export const LAYERS = 56
export const EXPERTS = 8
export const EXPERTS_USED = 2
const [HIDDEN, INTERMEDIATE, VOCABULARY, KEY_VALUE] = [6144, 16_384, 32_000, 8 * 128]

const SHARDS = 59

/** Returns a function that opens the index and the shards by name. */
export function mixtral8x22b() {
  return shardsOf(tensors(), SHARDS)
}

function tensors() {
  const all = [['model.embed_tokens.weight', [VOCABULARY, HIDDEN]]]
  for (let layer = 0; layer < LAYERS; layer++) {
    const add = (name, shape) => all.push([`model.layers.${layer}.${name}.weight`, shape])
    for (const projection of ['q_proj', 'o_proj']) add(`self_attn.${projection}`, [HIDDEN, HIDDEN])
    for (const projection of ['k_proj', 'v_proj']) add(`self_attn.${projection}`, [KEY_VALUE, HIDDEN])
    add('block_sparse_moe.gate', [EXPERTS, HIDDEN])
    for (let expert = 0; expert < EXPERTS; expert++) {
      for (const name of ['w1', 'w3']) add(`block_sparse_moe.experts.${expert}.${name}`, [INTERMEDIATE, HIDDEN])
      add(`block_sparse_moe.experts.${expert}.w2`, [HIDDEN, INTERMEDIATE])
    }
    for (const norm of ['input_layernorm', 'post_attention_layernorm']) add(norm, [HIDDEN])
  }
  all.push(['model.norm.weight', [HIDDEN]], ['lm_head.weight', [VOCABULARY, HIDDEN]])
  return all
}
