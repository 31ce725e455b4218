import { findAliases } from '../formats/aliases.js'
import { expertsOf, expertSlices } from '../formats/experts.js'
import { quote } from '../formats/quote.js'
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
  const byName = new Map(model.layers.map((layer) => [layer.name, layer]))
  const tensors = new Map<string, readonly [PackedLayer, PackedTensor]>()
  for (const layer of model.layers) {
    for (const tensor of layer.tensors) tensors.set(tensor.name, [layer, tensor])
  }

  const { format, architecture } = model.source
  if (format === 'gguf' || format === 'safetensors') {
    const all = Array.from(tensors.values(), ([, tensor]) => tensor)
    for (const [alias, { name }] of findAliases({ format, architecture, tensors: all })) {
      tensors.set(alias, tensors.get(name)!)
    }
  }

  /** For the layers requested so far. */
  const experts = new Map<PackedLayer, ReturnType<typeof expertsOf<PackedTensor>>>()

  const find = (layer: string | number): PackedLayer => {
    const name = typeof layer === 'number' ? `layer ${layer}` : layer
    const found = byName.get(name)
    if (found !== undefined) return found
    throw new RangeError(
      `layer: expected one of the ${model.layers.length} layers of model ${quote(model.name)}, got ${quote(name)}`,
    )
  }
  return {
    name: model.name,
    store: model.store,
    layers: model.layers.map(({ name }) => name),
    checkable: true,
    layer: (layer) => layerExtent(model, find(layer)),
    tensor(name) {
      const found = tensors.get(name)
      if (found === undefined) {
        throw new RangeError(`name: expected a tensor of model ${quote(model.name)}, got ${quote(name)}`)
      }
      const [layer, tensor] = found
      return { name: tensor.name, pieces: [pieceOf(layer, tensor)], checks: chunksOf(model, layer, tensor) }
    },
    expert(layer, expert) {
      const packed = find(layer)
      let found = experts.get(packed)
      if (found === undefined) experts.set(packed, (found = expertsOf(packed.tensors)))
      const slices = expertSlices(found, packed.name, expert)
      const pieces = slices.map(({ tensor, name, shape, fromBytes, lengthBytes }): StoredPiece => {
        const storeBytes = packed.offsetBytes + tensor.offsetBytes + fromBytes
        return { name, dtype: tensor.dtype, shape, lengthBytes, runs: [{ storeBytes, lengthBytes }] }
      })
      // Slices with their own checksums need no surrounding chunks. An image written without them, or with another
      // naming, has chunks.
      const haveOwn = slices.every(({ tensor, slices }) => tensor.sliceCrcs?.length === slices)
      const checks = slices.flatMap(({ tensor, slice, fromBytes, lengthBytes }) => {
        const offsetBytes = tensor.offsetBytes + fromBytes
        if (!haveOwn) return chunksOf(model, packed, { offsetBytes, lengthBytes })
        return [{ storeBytes: packed.offsetBytes + offsetBytes, lengthBytes, crc32: tensor.sliceCrcs![slice]! }]
      })
      return { name: `${packed.name} expert ${expert}`, pieces, checks: inOrder(checks) }
    },
  }
}

/** Returns a layer of an image, read completely: tensors have the same offsets in memory as in the image. */
export function layerExtent(model: PackedModel, layer: PackedLayer): StoredExtent {
  const { name, offsetBytes, lengthBytes, tensors } = layer
  const whole = { storeBytes: offsetBytes, lengthBytes }
  const pieces = tensors.map((tensor) => pieceOf(layer, tensor))
  return { name, pieces, whole, checks: chunksOf(model, layer, { offsetBytes: 0, lengthBytes }) }
}

function pieceOf(layer: PackedLayer, { name, dtype, shape, offsetBytes, lengthBytes }: PackedTensor): StoredPiece {
  return { name, dtype, shape, lengthBytes, runs: [{ storeBytes: layer.offsetBytes + offsetBytes, lengthBytes }] }
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
