import type { Layer, Tensor } from './model.js'
import { quote } from './quote.js'

/**
 * A repeated block: a prefix, the number of the block, a dot. Publishers use `blk.7.` (GGUF), `model.layers.7.`,
 * `transformer.h.7.`, `encoder.layer.7.`. A number with leading zeros or with more than six digits is part of a name.
 */
const BLOCK = /^((?:.*?\.)?(?:blk|layers?|h|blocks?))\.(0|[1-9]\d{0,5})\./

/** Tensors needed before the first block. `rope_freqs` is not an embedding, but every block uses it. */
const EMBEDDING =
  /(?:^|\.)(?:token_embd|token_embd_norm|per_layer_token_embd|position_embd|token_types|rope_freqs|embeddings|word_embeddings|tok_embeddings|embed_tokens|embed_positions|embed_in|wte|wpe)(?:\.|$)/

/**
 * Groups tensors into layers in the order of computation: 'embedding', 'layer 0' to 'layer N-1' by number, and 'output'
 * for all others. Groups without tensors are omitted.
 *
 * In a file with several stacks of blocks (an image encoder and a language model), the stack with the most bytes has
 * the plain names. The other stacks feed it, so they come first, named with their prefix.
 *
 * @param numberIn replaces the publishers' rules: its first group captures the number of a tensor's layer.
 * @throws RangeError if the captured text is not a number.
 */
export function groupLayers(tensors: readonly Tensor[], numberIn?: RegExp): Layer[] {
  const embedding: Tensor[] = []
  const output: Tensor[] = []
  const stacks = new Map<string, Map<number, Tensor[]>>()
  for (const tensor of tensors) {
    const place = numberIn === undefined ? blockOf(tensor.name) : ownBlockOf(tensor.name, numberIn)
    if (place !== undefined) {
      const blocks = entry(stacks, place.prefix, () => new Map<number, Tensor[]>())
      entry(blocks, place.number, (): Tensor[] => []).push(tensor)
    } else if (EMBEDDING.test(tensor.name)) embedding.push(tensor)
    else output.push(tensor)
  }

  const main = largestStack(stacks)
  const blockLayers: Layer[] = []
  const mainLayers: Layer[] = []
  for (const [prefix, blocks] of stacks) {
    for (const [number, members] of [...blocks].sort(([a], [b]) => a - b)) {
      if (prefix === main) mainLayers.push(layer(`layer ${number}`, members))
      else blockLayers.push(layer(`${prefix} layer ${number}`, members))
    }
  }
  const all = [layer('embedding', embedding), ...blockLayers, ...mainLayers, layer('output', output)]
  return all.filter(({ tensors }) => tensors.length > 0)
}

interface Place {
  readonly prefix: string
  readonly number: number
}

function blockOf(name: string): Place | undefined {
  const [, prefix, digits] = BLOCK.exec(name) ?? []
  return prefix === undefined ? undefined : { prefix, number: Number(digits) }
}

function ownBlockOf(name: string, numberIn: RegExp): Place | undefined {
  const match = numberIn.exec(name)
  if (match === null) return undefined
  const number = Number(match[1] ?? NaN)
  if (Number.isSafeInteger(number) && number >= 0) return { prefix: '', number }
  throw new RangeError(
    `naming.layer: expected its first group to be a number, got ${quote(match[1] ?? '')} in ${quote(name)}`,
  )
}

function largestStack(stacks: ReadonlyMap<string, ReadonlyMap<number, readonly Tensor[]>>): string | undefined {
  let largest: string | undefined
  let largestBytes = -1
  for (const [prefix, blocks] of stacks) {
    const lengthBytes = totalBytes([...blocks.values()].flat())
    if (lengthBytes > largestBytes) [largest, largestBytes] = [prefix, lengthBytes]
  }
  return largest
}

function layer(name: string, tensors: readonly Tensor[]): Layer {
  return { name, tensors, lengthBytes: totalBytes(tensors) }
}

function totalBytes(tensors: readonly Tensor[]): number {
  return tensors.reduce((sum, { lengthBytes }) => sum + lengthBytes, 0)
}

function entry<K, V>(map: Map<K, V>, key: K, create: () => V): V {
  let value = map.get(key)
  if (value === undefined) map.set(key, (value = create()))
  return value
}
