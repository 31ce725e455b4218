import { memorySource, openModel, type Model } from '../src/formats/index.js'
import { loadTensor, type PackedModel } from '../src/index.js'
import { concat, safetensors } from './formats/bytes.js'

/** Name and length of a tensor of bytes. */
export type TensorSize = readonly [name: string, lengthBytes: number]

/** Tensors of two layers: one is empty, some are longer than a page, and most are not a multiple of a page. */
export const SMALL: readonly TensorSize[] = [
  ['model.embed_tokens.weight', 5000],
  ['model.layers.0.self_attn.q_proj.weight', 9001],
  ['model.layers.0.mlp.up_proj.weight', 4096],
  ['model.layers.1.self_attn.q_proj.weight', 123],
  ['model.layers.1.mlp.up_proj.bias', 0],
  ['model.norm.weight', 64],
]

/** A safetensors file with tensors of bytes. The same seed gives the same bytes. */
export function safetensorsFile(tensors: readonly TensorSize[] = SMALL, seed = 1): Uint8Array {
  let offset = 0
  const entries = tensors.map(([name, lengthBytes]) => {
    const begin = offset
    offset += lengthBytes
    return `"${name}":{"dtype":"U8","shape":[${lengthBytes}],"data_offsets":[${begin},${offset}]}`
  })
  const data = new Uint8Array(offset)
  let state = seed
  for (let at = 0; at < data.length; at++) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    data[at] = state >>> 24
  }
  return concat(safetensors(`{${entries.join(',')}}`), data)
}

export function smallModel(tensors?: readonly TensorSize[], seed?: number): Promise<Model> {
  return openModel(memorySource(safetensorsFile(tensors, seed), 'small.safetensors'))
}

/** Returns a model of equal layers with one tensor each. */
export function layeredModel(layers: number, layerBytes: number, seed?: number): Promise<Model> {
  const tensors = Array.from({ length: layers }, (_, index): TensorSize => [`model.layers.${index}.weight`, layerBytes])
  return smallModel(tensors, seed)
}

/** Reads the bytes of a tensor from the file of its model. */
export function tensorBytes(model: Model, name: string): Promise<Uint8Array> {
  const { part, offsetBytes, lengthBytes } = model.tensors.find((tensor) => tensor.name === name)!
  const bytes = new Uint8Array(lengthBytes)
  return model.parts[part]!.source.read(offsetBytes, bytes).then(() => bytes)
}

/** Loads and verifies every tensor of a packed model. Throws if a chunk does not match its checksum. */
export async function expectAllLoads(model: PackedModel): Promise<void> {
  for (const { tensors } of model.manifest.layers) {
    for (const { name } of tensors) await loadTensor(model, name)
  }
}
