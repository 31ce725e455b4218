import { findAliases } from '../formats/aliases.js'
import { wholeTensor, type TensorSlice } from '../formats/experts.js'
import { ModelIndex, type Selection } from '../formats/model-index.js'
import { rulesOf } from '../formats/naming.js'
import { CHUNK_BYTES } from '../image/format.js'
import type { PackedLayer, PackedTensor } from '../image/manifest.js'
import type { PackedModel } from '../image/open-image.js'
import type { CheckUnit, StoredExtent, StoredModel, StoredPiece } from './extent.js'

const models = new WeakMap<PackedModel, StoredModel>()

/** Returns a model of an image for a loader: every extent is checked against the checksums of the image. */
export function packedModel(model: PackedModel): StoredModel {
  let stored = models.get(model)
  if (stored === undefined) models.set(model, (stored = describe(model)))
  return stored
}

function describe(model: PackedModel): StoredModel {
  const homes = new Map<PackedTensor, PackedLayer>()
  for (const layer of model.layers) for (const tensor of layer.tensors) homes.set(tensor, layer)
  const { format, architecture } = model.source
  const isKnown = format === 'gguf' || format === 'safetensors'
  const aliases = isKnown ? findAliases({ format, architecture, tensors: [...homes.keys()] }) : new Map<string, never>()
  const index = new ModelIndex(model.layers, aliases, rulesOf())

  const place = ({ name, slices }: Selection<PackedTensor>): StoredExtent => {
    // Slices with their own checksums need no surrounding chunks. An image written without them, or with another
    // naming, has chunks.
    const haveOwn = slices.every(({ tensor, slices }) => tensor.sliceCrcs?.length === slices)
    const checks = slices.flatMap(({ tensor, slice, fromBytes, lengthBytes }) => {
      const layer = homes.get(tensor)!
      const offsetBytes = tensor.offsetBytes + fromBytes
      if (!haveOwn) return chunksOf(model, layer, { offsetBytes, lengthBytes })
      return [{ storeBytes: layer.offsetBytes + offsetBytes, lengthBytes, crc32: tensor.sliceCrcs![slice]! }]
    })
    return { name, pieces: slices.map((slice) => pieceOf(homes.get(slice.tensor)!, slice)), checks: inOrder(checks) }
  }
  return {
    name: model.name,
    store: model.store,
    layers: index.layers,
    checkable: true,
    layer(name, options) {
      const selection = index.layer(name, options)
      const layer = index.find(name)
      return selection.name === layer.name ? layerExtent(model, layer) : place(selection)
    },
    tensor: (name) => place(index.tensor(name)),
    experts: (layer) => index.experts(layer),
    expert: (layer, expert) => place(index.expert(layer, expert)),
  }
}

/** Returns a layer of an image, read completely: tensors have the same offsets in memory as in the image. */
export function layerExtent(model: PackedModel, layer: PackedLayer): StoredExtent {
  const { name, offsetBytes, lengthBytes, tensors } = layer
  const whole = { storeBytes: offsetBytes, lengthBytes }
  const pieces = tensors.map((tensor) => pieceOf(layer, wholeTensor(tensor)))
  return { name, pieces, whole, checks: chunksOf(model, layer, { offsetBytes: 0, lengthBytes }) }
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
  { chunkCrcs }: PackedModel,
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
