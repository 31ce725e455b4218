import { CRC_DIGITS, encodeCrc, encodeExtent, readCheckedExtent, readExtent } from './extent.js'
import {
  ALIGNMENT_BYTES,
  chunksOf,
  MAX_DIMENSIONS,
  MAX_LAYERS,
  MAX_MODEL_NAME_BYTES,
  MAX_NAME_BYTES,
  MAX_TENSORS,
  type CheckedExtent,
  type Extent,
} from './format.js'
import { parseImageJson, type ImageValue } from './json.js'
import { tensorLengthBytes } from './tensor-length.js'

/** A tensor of a packed model. */
export interface PackedTensor {
  readonly name: string
  /** Name of the type in the source format: 'F32', 'Q4_0', 'BF16'. */
  readonly dtype: string
  /** Lengths of the dimensions, outermost first (row-major). */
  readonly shape: readonly number[]
  /** Offset in its layer; a multiple of 4096. */
  readonly offsetBytes: number
  readonly lengthBytes: number
  /** SHA-256 of the tensor's bytes, as 64 hexadecimal digits. */
  readonly sha256: string
  /** CRC-32s of equal slices along the outermost dimension, one per expert. */
  readonly sliceCrcs?: Uint32Array | undefined
}

/** Tensors that are loaded together: one extent of the namespace. */
export interface PackedLayer extends Extent {
  readonly name: string
  /** Tensors in the order of their bytes. */
  readonly tensors: readonly PackedTensor[]
  /** Index of the layer's first chunk in the chunk checksums of the model. */
  readonly firstChunk: number
}

/** The file that a model was packed from. */
export interface PackedSource {
  readonly format: string
  readonly formatVersion: number
  /** Name of the model in the file. */
  readonly name: string | undefined
  readonly architecture: string | undefined
}

/** Contents of a model in an image. */
export interface Manifest {
  readonly name: string
  readonly fingerprint: string
  readonly source: PackedSource
  /** The source's bytes before its tensor data, unchanged: hyper-parameters, tokenizer. */
  readonly header: CheckedExtent
  readonly chunkTable: CheckedExtent
  readonly layers: readonly PackedLayer[]
}

export function encodeManifest({ name, fingerprint, source, header, chunkTable, layers }: Manifest): Uint8Array {
  const { format, formatVersion, name: sourceName = null, architecture = null } = source
  return Buffer.from(
    JSON.stringify({
      name,
      fingerprint,
      source: { format, formatVersion, name: sourceName, architecture },
      header: encodeExtent(header),
      chunkTable: encodeExtent(chunkTable),
      layers: layers.map(({ name, offsetBytes, lengthBytes, tensors }) => ({
        name,
        offsetBytes,
        lengthBytes,
        tensors: tensors.map(({ sliceCrcs, ...tensor }) => ({ ...tensor, ...encodeSlices(sliceCrcs) })),
      })),
    }),
  )
}

function encodeSlices(sliceCrcs: Uint32Array | undefined): { slices?: string } {
  return sliceCrcs === undefined ? {} : { slices: Array.from(sliceCrcs, encodeCrc).join('') }
}

/** @throws ImageContentError */
export function decodeManifest(region: string, encoded: Uint8Array, usedEndBytes: number): Manifest {
  const manifest = parseImageJson(region, encoded)
  const source = manifest.member('source')
  const layers = readLayers(manifest.member('layers'), source.member('format').text(MAX_NAME_BYTES), usedEndBytes)
  const chunkTableValue = manifest.member('chunkTable')
  const chunkTable = readCheckedExtent(chunkTableValue, usedEndBytes)
  const last = layers.at(-1)
  const tableBytes = last === undefined ? 0 : (last.firstChunk + chunksOf(last.lengthBytes)) * 4
  if (chunkTable.lengthBytes !== tableBytes) {
    throw chunkTableValue.member('lengthBytes').error(`${tableBytes}: 4 for each chunk of the layers`)
  }
  return {
    name: manifest.member('name').text(MAX_MODEL_NAME_BYTES),
    fingerprint: manifest.member('fingerprint').hex(64),
    source: {
      format: source.member('format').text(MAX_NAME_BYTES),
      formatVersion: source.member('formatVersion').integer(0),
      name: optionalText(source.member('name')),
      architecture: optionalText(source.member('architecture')),
    },
    header: readCheckedExtent(manifest.member('header'), usedEndBytes),
    chunkTable,
    layers,
  }
}

function optionalText(value: ImageValue): string | undefined {
  return value.isNull ? undefined : value.text(MAX_NAME_BYTES)
}

function readLayers(value: ImageValue, format: string, usedEndBytes: number): PackedLayer[] {
  const layerNames = new Set<string>()
  const tensorNames = new Set<string>()
  let firstChunk = 0
  return value.items(MAX_LAYERS).map((layer) => {
    const extent = readExtent(layer, usedEndBytes)
    if (extent.lengthBytes % ALIGNMENT_BYTES !== 0) {
      throw layer.member('lengthBytes').error(`a multiple of ${ALIGNMENT_BYTES}`)
    }
    const name = uniqueName(layer.member('name'), layerNames)
    const tensors = readTensors(layer.member('tensors'), format, extent.lengthBytes, tensorNames)
    const packed = { name, ...extent, tensors, firstChunk }
    firstChunk += chunksOf(extent.lengthBytes)
    return packed
  })
}

function readTensors(value: ImageValue, format: string, layerBytes: number, names: Set<string>): PackedTensor[] {
  let endBytes = 0
  return value.items(MAX_TENSORS - names.size).map((tensor) => {
    const name = uniqueName(tensor.member('name'), names)
    const dtype = tensor.member('dtype').text(MAX_NAME_BYTES)
    const shape = tensor
      .member('shape')
      .items(MAX_DIMENSIONS)
      .map((length) => length.integer(0))
    const offset = tensor.member('offsetBytes')
    const offsetBytes = offset.integer(0, layerBytes)
    if (offsetBytes % ALIGNMENT_BYTES !== 0) throw offset.error(`a multiple of ${ALIGNMENT_BYTES}`)
    if (offsetBytes < endBytes) throw offset.error(`at least ${endBytes}, the end of the previous tensor`)
    const length = tensor.member('lengthBytes')
    const lengthBytes = length.integer(0, layerBytes - offsetBytes)
    const expectedBytes = tensorLengthBytes(format, dtype, shape)
    if (expectedBytes !== undefined && lengthBytes !== expectedBytes) {
      throw length.error(`${expectedBytes}, by dtype and shape`)
    }
    endBytes = offsetBytes + lengthBytes
    const sha256 = tensor.member('sha256').hex(64)
    return { name, dtype, shape, offsetBytes, lengthBytes, sha256, ...readSlices(tensor, lengthBytes) }
  })
}

function readSlices(tensor: ImageValue, lengthBytes: number): { sliceCrcs?: Uint32Array } {
  if (!tensor.has('slices')) return {}
  const value = tensor.member('slices')
  const digits = value.hex()
  const slices = digits.length / CRC_DIGITS
  if (!Number.isInteger(slices) || lengthBytes % slices !== 0) {
    throw value.error(`${CRC_DIGITS} digits for each of the equal slices of ${lengthBytes} bytes`)
  }
  const crcOf = (_: unknown, slice: number) =>
    Number.parseInt(digits.slice(slice * CRC_DIGITS, (slice + 1) * CRC_DIGITS), 16)
  return { sliceCrcs: Uint32Array.from({ length: slices }, crcOf) }
}

function uniqueName(value: ImageValue, names: Set<string>): string {
  const name = value.text(MAX_NAME_BYTES)
  if (names.has(name)) throw value.error('a unique name')
  names.add(name)
  return name
}
