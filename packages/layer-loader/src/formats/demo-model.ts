import { demoData, type DemoDtype } from './demo-data.js'
import { tensorLengthBytes, type GgufValue } from './gguf-header.js'
import { writeGguf, type GgufTensorToWrite } from './gguf-writer.js'

/** Defaults of the demo model. */
export const DEMO_MODEL = {
  name: 'gpunvme demo',
  architecture: 'llama',
  layers: 8,
  /** Maximum length of the file; at this size, it is less than 1 % shorter. */
  targetBytes: 256 * 1024 * 1024,
} as const

const VOCABULARY = 512
const HEAD_ELEMENTS = 32
/** Query heads that share one key and value head. */
const HEADS_PER_KV_HEAD = 4
/** Step of the embedding: whole groups of heads, and whole blocks of 32 in each row. */
const EMBEDDING_STEP = HEAD_ELEMENTS * HEADS_PER_KV_HEAD
/** Step of the feed-forward width: one block. */
const FEED_FORWARD_STEP = 32

interface Sizes {
  readonly layers: number
  readonly embedding: number
  readonly feedForward: number
}

interface DemoTensor {
  readonly name: string
  readonly dtype: DemoDtype
  readonly shape: readonly number[]
}

/**
 * Writes a GGUF with the shape of a small llama and random weights: a model to stream without a download. The same
 * arguments always give the same bytes.
 *
 * @param options.layers number of transformer blocks. Default: 8.
 * @param options.targetBytes maximum length of the file; the model is as large as fits. Default: 256 MiB.
 * @param options.signal aborts between pieces of about 1 MiB, and leaves no file.
 * @returns the file's length in bytes.
 * @throws RangeError if even the smallest such model does not fit; the signal's reason.
 */
export async function writeDemoModel(
  path: string,
  options: { layers?: number; targetBytes?: number; signal?: AbortSignal } = {},
): Promise<{ sizeBytes: number }> {
  const { layers = DEMO_MODEL.layers, targetBytes = DEMO_MODEL.targetBytes, signal } = options
  const sizes = largestThatFits(layers, targetBytes)
  const tensors = tensorsOf(sizes).map((tensor, index): GgufTensorToWrite => {
    // A golden-ratio step gives neighbouring tensors unrelated seeds; it is odd, so never 0 for an odd factor.
    const seed = Math.imul(2 * index + 1, 0x9e37_79b9)
    return { ...tensor, data: demoData(tensor.dtype, tensorLengthBytes(tensor), seed) }
  })
  return writeGguf(path, { metadata: metadataOf(sizes), tensors }, { ...(signal && { signal }) })
}

/** The widest embedding with a feed-forward three times as wide, then as much more feed-forward as fits. */
function largestThatFits(layers: number, targetBytes: number): Sizes {
  if (!Number.isSafeInteger(layers) || layers < 1) {
    throw new RangeError(`layers: expected an integer of at least 1, got ${layers}`)
  }
  const square = (embedding: number): Sizes => ({ layers, embedding, feedForward: 3 * embedding })
  let sizes = square(EMBEDDING_STEP)
  const minBytes = estimatedBytes(sizes)
  if (!(minBytes <= targetBytes)) {
    throw new RangeError(`targetBytes: expected at least ${minBytes} for ${layers} layers, got ${targetBytes}`)
  }
  for (let next = sizes; estimatedBytes(next) <= targetBytes; next = square(next.embedding + EMBEDDING_STEP)) {
    sizes = next
  }
  const wider = { ...sizes, feedForward: sizes.feedForward + FEED_FORWARD_STEP }
  const spareBytes = targetBytes - estimatedBytes(sizes)
  const steps = Math.floor(spareBytes / (estimatedBytes(wider) - estimatedBytes(sizes)))
  return { ...sizes, feedForward: sizes.feedForward + steps * FEED_FORWARD_STEP }
}

/** The tensors, plus a generous allowance for the header and for padding. */
function estimatedBytes(sizes: Sizes): number {
  const tensors = tensorsOf(sizes)
  const dataBytes = tensors.reduce((sum, tensor) => sum + tensorLengthBytes(tensor), 0)
  return dataBytes + 128 * tensors.length + 32 * VOCABULARY
}

function tensorsOf({ layers, embedding, feedForward }: Sizes): DemoTensor[] {
  const keyValue = embedding / HEADS_PER_KV_HEAD
  const blocks = Array.from({ length: layers }, (_, number): DemoTensor[] => [
    { name: `blk.${number}.attn_norm.weight`, dtype: 'F32', shape: [embedding] },
    { name: `blk.${number}.attn_q.weight`, dtype: 'Q4_0', shape: [embedding, embedding] },
    { name: `blk.${number}.attn_k.weight`, dtype: 'Q4_0', shape: [keyValue, embedding] },
    { name: `blk.${number}.attn_v.weight`, dtype: 'Q8_0', shape: [keyValue, embedding] },
    { name: `blk.${number}.attn_output.weight`, dtype: 'Q4_0', shape: [embedding, embedding] },
    { name: `blk.${number}.ffn_norm.weight`, dtype: 'F32', shape: [embedding] },
    { name: `blk.${number}.ffn_gate.weight`, dtype: 'Q4_0', shape: [feedForward, embedding] },
    { name: `blk.${number}.ffn_up.weight`, dtype: 'Q4_0', shape: [feedForward, embedding] },
    { name: `blk.${number}.ffn_down.weight`, dtype: 'Q8_0', shape: [embedding, feedForward] },
  ])
  return [
    { name: 'token_embd.weight', dtype: 'Q8_0', shape: [VOCABULARY, embedding] },
    ...blocks.flat(),
    { name: 'output_norm.weight', dtype: 'F32', shape: [embedding] },
    { name: 'output.weight', dtype: 'Q8_0', shape: [VOCABULARY, embedding] },
  ]
}

function metadataOf({ layers, embedding, feedForward }: Sizes): Map<string, GgufValue> {
  const heads = embedding / HEAD_ELEMENTS
  const uint32 = (value: number): GgufValue => ({ type: 'uint32', value })
  const tokens = Array.from({ length: VOCABULARY }, (_, id) => (id < 3 ? ['<unk>', '<s>', '</s>'][id]! : `token${id}`))
  return new Map<string, GgufValue>([
    ['general.architecture', DEMO_MODEL.architecture],
    ['general.name', DEMO_MODEL.name],
    ['general.description', 'Random weights in the shape of a llama, for streaming. It cannot talk.'],
    ['general.file_type', uint32(2)],
    ['llama.block_count', uint32(layers)],
    ['llama.context_length', uint32(2048)],
    ['llama.embedding_length', uint32(embedding)],
    ['llama.feed_forward_length', uint32(feedForward)],
    ['llama.attention.head_count', uint32(heads)],
    ['llama.attention.head_count_kv', uint32(heads / HEADS_PER_KV_HEAD)],
    ['llama.attention.layer_norm_rms_epsilon', { type: 'float32', value: 1e-5 }],
    ['llama.rope.dimension_count', uint32(HEAD_ELEMENTS)],
    ['llama.rope.freq_base', { type: 'float32', value: 10_000 }],
    ['llama.vocab_size', uint32(VOCABULARY)],
    ['tokenizer.ggml.model', 'llama'],
    ['tokenizer.ggml.tokens', { arrayOf: 'string', items: tokens }],
    ['tokenizer.ggml.scores', { arrayOf: 'float32', items: tokens.map((_, id) => 0 - id) }],
    ['tokenizer.ggml.token_type', { arrayOf: 'int32', items: tokens.map((_, id) => (id === 0 ? 2 : id < 3 ? 3 : 1)) }],
    ['tokenizer.ggml.unknown_token_id', uint32(0)],
    ['tokenizer.ggml.bos_token_id', uint32(1)],
    ['tokenizer.ggml.eos_token_id', uint32(2)],
  ])
}
