import { findAliases } from '../formats/aliases.js'
import { wholeTensor, type TensorSlice } from '../formats/experts.js'
import { ModelIndex, type Selection } from '../formats/model-index.js'
import { rulesOf } from '../formats/naming.js'
import { CHUNK_BYTES } from '../image/format.js'
import type { Manifest, PackedLayer, PackedTensor } from '../image/manifest.js'
import type { PackedModel } from '../image/open-image.js'
import type { BlockStore } from '../store/store.js'
import { requestedAs, type CheckUnit, type StoredExtent, type StoredPiece } from './extent.js'

/** Returns a model of an image: every extent is checked against the checksums of the image. */
export function packedModel(manifest: Manifest, store: BlockStore, chunkCrcs: Uint32Array): PackedModel {
  const image = { manifest, chunkCrcs }
  const homes = new Map<PackedTensor, PackedLayer>()
  /** Created at first use: many callers need the manifest only. */
  let index: ModelIndex<PackedTensor, PackedLayer> | undefined
  const find = () => (index ??= indexOf(manifest, homes))

  const place = ({ name, slices }: Selection<PackedTensor>): StoredExtent => {
    // Slices with their own checksums need no surrounding chunks. An image written without them, or with another
    // naming, has chunks.
    const haveOwn = slices.every(({ tensor, slices }) => tensor.sliceCrcs?.length === slices)
    const checks = slices.flatMap(({ tensor, slice, fromBytes, lengthBytes }) => {
      const layer = homes.get(tensor)!
      const offsetBytes = tensor.offsetBytes + fromBytes
      if (!haveOwn) return chunksOf(image, layer, { offsetBytes, lengthBytes })
      return [{ storeBytes: layer.offsetBytes + offsetBytes, lengthBytes, crc32: tensor.sliceCrcs![slice]! }]
    })
    return { name, pieces: slices.map((slice) => pieceOf(homes.get(slice.tensor)!, slice)), checks: inOrder(checks) }
  }
  return {
    ...image,
    fingerprint: manifest.fingerprint,
    name: manifest.name,
    store,
    layers: manifest.layers.map(({ name }) => name),
    hasChecksums: true,
    layer(name, options) {
      const selection = find().layer(name, options)
      const layer = find().find(name)
      return selection.name === layer.name ? layerExtent(image, layer) : place(selection)
    },
    tensor: (name) => requestedAs(name, place(find().tensor(name))),
    experts: (layer) => find().experts(layer),
    expert: (layer, expert) => place(find().expert(layer, expert)),
  }
}

/** Returns the index of a model, and notes the layer of each tensor. */
function indexOf(
  { layers, source: { format, architecture } }: Manifest,
  homes: Map<PackedTensor, PackedLayer>,
): ModelIndex<PackedTensor, PackedLayer> {
  for (const layer of layers) for (const tensor of layer.tensors) homes.set(tensor, layer)
  const isKnown = format === 'gguf' || format === 'safetensors'
  const aliases = isKnown ? findAliases({ format, architecture, tensors: [...homes.keys()] }) : new Map<string, never>()
  return new ModelIndex(layers, aliases, rulesOf())
}

/** Returns a layer of an image, read completely: tensors have the same offsets in memory as in the image. */
export function layerExtent(image: Pick<PackedModel, 'chunkCrcs'>, layer: PackedLayer): StoredExtent {
  const { name, offsetBytes, lengthBytes, tensors } = layer
  const fullRange = { storeBytes: offsetBytes, lengthBytes }
  const pieces = tensors.map((tensor) => pieceOf(layer, wholeTensor(tensor)))
  return { name, pieces, fullRange, checks: chunksOf(image, layer, { offsetBytes: 0, lengthBytes }) }
}

function pieceOf(
  layer: PackedLayer,
  { tensor, name, shape, fromBytes, lengthBytes }: TensorSlice<PackedTensor>,
): StoredPiece {
  const storeBytes = layer.offsetBytes + tensor.offsetBytes + fromBytes
  return { name, dtype: tensor.dtype, shape, lengthBytes, runs: [{ storeBytes, lengthBytes }] }
}

/** Returns the chunks that a part of a layer touches, numbered from the start of the layer. */
function chunksOf(
  { chunkCrcs }: Pick<PackedModel, 'chunkCrcs'>,
  layer: PackedLayer,
  { offsetBytes, lengthBytes }: { offsetBytes: number; lengthBytes: number },
): CheckUnit[] {
  const units: CheckUnit[] = []
  const endBytes = offsetBytes + lengthBytes
  for (let chunk = Math.floor(offsetBytes / CHUNK_BYTES); chunk * CHUNK_BYTES < endBytes; chunk++) {
    const startBytes = chunk * CHUNK_BYTES
    units.push({
      storeBytes: layer.offsetBytes + startBytes,
      lengthBytes: Math.min(CHUNK_BYTES, layer.lengthBytes - startBytes),
      crc32: chunkCrcs[layer.firstChunk + chunk]!,
    })
  }
  return units
}

/** In ascending order without duplicates: slices of several tensors may share a chunk. */
function inOrder(units: readonly CheckUnit[]): CheckUnit[] {
  const sorted = [...units].sort((a, b) => a.storeBytes - b.storeBytes)
  return sorted.filter(({ storeBytes }, index) => index === 0 || sorted[index - 1]!.storeBytes !== storeBytes)
}
