import type { Model } from './model.js'

/** Tied weights: a file may omit the output weights; the embedding is used instead. */
const TIED: Readonly<Record<Model['format'], { readonly output: string; readonly embedding: RegExp }>> = {
  gguf: { output: 'output.weight', embedding: /^token_embd\.weight$/ },
  safetensors: { output: 'lm_head.weight', embedding: /(?:^|\.)(?:embed_tokens|wte|tok_embeddings)\.weight$/ },
}

/** These architectures have an embedding but no output: they map text or images to vectors. */
const ENCODERS = /bert|clip|encoder/

/**
 * Returns names that a model omits, each with the tensor used instead. Two tensors on the same bytes are not included:
 * both formats forbid them, and the readers reject them.
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
  // With two embeddings, it is unknown which one is tied.
  if (only === undefined || candidates.length > 1 || hasOutput || ENCODERS.test(architecture ?? '')) return new Map()
  return new Map([[output, only]])
}
