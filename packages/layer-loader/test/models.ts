import { memorySource, openModel, type Model } from '../src/formats/index.js'
import { loadTensor, type PackedModel } from '../src/index.js'
import { concat, safetensors } from './formats/bytes.js'

/** A tensor of bytes: its name and how many. */
export type TensorSize = readonly [name: string, lengthBytes: number]

/** Two blocks of a few tensors, one of them empty, some longer than a page and none a multiple of it. */
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

/** A model of layers that are whole chunks, for streams that are watched. */
export function layeredModel(layers: number, layerBytes: number, seed?: number): Promise<Model> {
  const tensors = Array.from({ length: layers }, (_, index): TensorSize => [`model.layers.${index}.weight`, layerBytes])
  return smallModel(tensors, seed)
}

/** What a model's tensors are in its files. */
export function tensorBytes(model: Model, name: string): Promise<Uint8Array> {
  const { part, offsetBytes, lengthBytes } = model.tensors.find((tensor) => tensor.name === name)!
  const bytes = new Uint8Array(lengthBytes)
  return model.parts[part]!.source.read(offsetBytes, bytes).then(() => bytes)
}

/** Loads every tensor of a packed model, which throws unless each of their chunks matches its checksum. */
export async function expectAllLoads(model: PackedModel): Promise<void> {
  for (const { tensors } of model.manifest.layers) {
    for (const { name } of tensors) await loadTensor(model, name)
  }
}
