/**
 * How a family of models names its tensors. Each expression is tried on the whole name. The
 * first match decides: MTP, layer, after the layers, before the layers. A name without a match belongs after them.
 */
export interface NamingScheme {
  /** Value of the option `naming`. */
  readonly name: string
  /** Models from which the names were taken. */
  readonly models: readonly string[]
  /** Source of the names. */
  readonly source: string
  /** A repeated layer. Group 1: its number. What precedes the number is the name of its stack. */
  readonly layer: RegExp
  /** Tensors needed before layer 0. */
  readonly before?: RegExp
  /** Tensors needed after the last layer, although `before` matches them too. */
  readonly after?: RegExp
  /** Multi-token prediction (MTP), which no normal pass computes. Group 1: number of the MTP layer, if it has one. */
  readonly mtp?: RegExp
  /** Tensors that only an MTP layer has. The numbered layer with one of them is an MTP layer. */
  readonly mtpMark?: RegExp
  /** A tensor of one routed expert. Group 1: number of the expert. */
  readonly expert?: RegExp
  /** A tensor of all routed experts of a layer, with the experts in its outermost dimension. */
  readonly experts?: RegExp
}

/** A number with leading zeros, or with more than six digits, is part of a name. */
const LAYER = /(?:^|\.)(?:layers?|h|blocks?)\.(0|[1-9]\d{0,5})\./
const MTP = /(?:^|\.)mtp(?:_[a-z_]+)?(?:\.layers)?(?:\.(0|[1-9]\d{0,5}))?(?:\.|$)/
const MTP_MARK = /\.(?:eh_proj|enorm|hnorm|shared_head)\./
const EXPERT = /(?:^|\.)experts\.(\d{1,6})\./
const EMBED_TOKENS = /(?:^|\.)embed_tokens(?:\.|$)/

/**
 * Published naming schemes. Without the option `naming`, all of them apply at once, since conversions mix them: an MLX
 * Gemma has stacks of `mlx` and embeddings of `gemma`. No name has different meanings in two schemes.
 */
export const NAMING_SCHEMES = [
  {
    name: 'gguf',
    models: ['Llama', 'Mixtral (2023)', 'DeepSeek-V3', 'GLM-4.5', 'Gemma 3n', 'Gemma 4', 'Phi-3', 'Qwen3.5'],
    source: 'ggml-org/llama.cpp src/llama-arch.cpp: LLM_TENSOR_NAMES',
    layer: /(?:^|\.)blk\.(0|[1-9]\d{0,5})\./,
    // LFM2 names its output norm token_embd_norm. It is then loaded early, with the embedding.
    before:
      /(?:^|\.)(?:token_embd|token_embd_norm|per_layer_token_embd|per_layer_model_proj|per_layer_proj_norm|altup_proj|position_embd|token_types|rope_freqs|rope_factors_long|rope_factors_short)(?:\.|$)/,
    mtpMark: /\.nextn\./,
    expert: /(?:^|\.)ffn_(?:gate|up|down)\.(\d{1,6})\./,
    experts: /(?:^|\.)ffn_(?:gate|up|down|gate_up)_exps\.[a-z_]+$/,
  },
  {
    name: 'deepseek',
    models: ['DeepSeek-V4', 'DeepSeek-V4-Flash'],
    source: 'tensor names of model.safetensors.index.json, as public loaders of DeepSeek-V4-Flash list them',
    layer: /^layers\.(0|[1-9]\d{0,5})\./,
    before: /^embed\./,
    after: /^(?:norm\.|head\.|hc_head_)/,
    mtp: /^mtp\.(0|[1-9]\d{0,5})\./,
    expert: /\.ffn\.experts\.(\d{1,6})\./,
  },
  {
    name: 'gpt-oss',
    models: ['gpt-oss-20b', 'gpt-oss-120b (both as OpenAI publishes them)'],
    source: 'openai/gpt-oss gpt_oss/torch/weights.py and model.py',
    layer: /^block\.(0|[1-9]\d{0,5})\./,
    before: /^embedding\./,
    after: /^(?:norm|unembedding)\./,
    experts: /\.mlp\.mlp[12]_(?:weight|bias)(?:\.(?:blocks|scales))?$/,
  },
  {
    name: 'gemma',
    models: ['Gemma 3n', 'Gemma 4'],
    source:
      'huggingface/transformers src/transformers/models/gemma3n/modeling_gemma3n.py; Gemma 4: public loaders of its checkpoints',
    layer: LAYER,
    // per_layer_projection, without "model", is part of each layer.
    before:
      /(?:^|\.)(?:embed_tokens|embed_tokens_per_layer|per_layer_model_projection|per_layer_projection_norm|altup_projections)(?:\.|$)/,
    after: /(?:^|\.)altup_unembed_projections\./,
    expert: EXPERT,
    experts: /(?:^|\.)experts\.(?:gate|up|down|gate_up)_proj(?:\.[a-z_]+)?$/,
  },
  {
    name: 'nemotron-h',
    models: ['Nemotron-H', 'Nemotron 3'],
    source: 'tensor names of nvidia/*Nemotron* checkpoints, as public converters list them',
    layer: /(?:^|\.)backbone\.layers\.(0|[1-9]\d{0,5})\./,
    before: /(?:^|\.)backbone\.embeddings?\./,
    after: /(?:^|\.)backbone\.norm_f\./,
    mtp: /(?:^|\.)mtp\.layers\.(0|[1-9]\d{0,5})\./,
    expert: /\.mixer\.experts\.(\d{1,6})\./,
  },
  {
    name: 'step',
    models: ['Step-3.5', 'Step-3.7'],
    source: 'vllm-project/vllm vllm/model_executor/models/step3p5.py: expert_params_mapping',
    layer: LAYER,
    before: EMBED_TOKENS,
    mtpMark: MTP_MARK,
    // The router is moe.gate, the shared expert share_expert.
    experts: /\.moe\.(?:gate|up|down)_proj\.[a-z_]+$/,
  },
  {
    name: 'granite',
    models: ['Granite 3 MoE', 'Granite 4 hybrid'],
    source: 'vllm-project/vllm vllm/model_executor/models/granitemoe.py: load_weights',
    layer: LAYER,
    before: EMBED_TOKENS,
    // shared_mlp.input_linear is not routed.
    experts: /\.block_sparse_moe\.(?:input|output)_linear\.[a-z_]+$/,
  },
  {
    name: 'mlx',
    models: ['Qwen3-MoE', 'Qwen3.5', 'DeepSeek-V3', 'GLM-4.5', 'Nemotron-H (all as mlx-lm converts them)'],
    source: 'ml-explore/mlx-lm: sanitize() of the models; tensor names as public loaders of the conversions list them',
    layer: LAYER,
    before: EMBED_TOKENS,
    mtp: MTP,
    mtpMark: MTP_MARK,
    experts: /\.switch_mlp\.(?:(?:gate|up|down|gate_up)_proj|fc[12])\.[a-z_]+$/,
  },
  {
    name: 'transformers',
    models: ['Llama 4', 'Mixtral', 'DeepSeek-V3', 'Qwen3.5', 'Kimi', 'MiMo', 'Ernie 4.5', 'gpt-oss', 'BERT', 'GPT-2'],
    source:
      'huggingface/transformers; README_WEIGHTS.md of DeepSeek-V3; MTP: tensor names that public loaders of MiMo, Ernie and Qwen map',
    layer: LAYER,
    before:
      /(?:^|\.)(?:embeddings|word_embeddings|tok_embeddings|embed_tokens|embed_positions|embed_in|wte|wpe)(?:\.|$)/,
    mtp: MTP,
    mtpMark: MTP_MARK,
    expert: EXPERT,
    experts: /(?:^|\.)experts\.(?:gate|up|down|gate_up)_proj(?:_[a-z]+)?(?:\.[a-z_]+)?$/,
  },
] as const satisfies readonly NamingScheme[]

/** Name of a scheme, for the option `naming`. */
export type NamingSchemeName = (typeof NAMING_SCHEMES)[number]['name']
