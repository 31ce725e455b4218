import type { Model } from './model.js'

/** Where publishers leave out a tensor that is the same as another: the output's weights are the embedding's. */
const TIED: Readonly<Record<Model['format'], { readonly output: string; readonly embedding: RegExp }>> = {
  gguf: { output: 'output.weight', embedding: /^token_embd\.weight$/ },
  safetensors: { output: 'lm_head.weight', embedding: /(?:^|\.)(?:embed_tokens|wte|tok_embeddings)\.weight$/ },
}

/** These have an embedding and no output at all: they turn a text or an image into numbers. */
const ENCODERS = /bert|clip|encoder/

/**
 * Names that a model does not have, each with the tensor that stands for it. Two tensors on the same bytes are not
 * among them: both formats forbid them, and their readers refuse them.
 */
export function findAliases<T extends { readonly name: string }>({
  format,
  architecture,
  tensors,
}: Pick<Model, 'format' | 'architecture'> & { readonly tensors: readonly T[] }): Map<string, T> {
  const { output, embedding } = TIED[format]
  const candidates = tensors.filter(({ name }) => embedding.test(name))
  const hasOutput = tensors.some(({ name }) => name === output || name.endsWith(`.${output}`))
  const [only] = candidates
  // Of two embeddings, it is not known which one is tied.
  if (only === undefined || candidates.length > 1 || hasOutput || ENCODERS.test(architecture ?? '')) return new Map()
  return new Map([[output, only]])
}
