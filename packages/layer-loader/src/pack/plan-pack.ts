import { GpuNvmeError } from '@gpunvme/nvme-spec'
import type { Layer, Model, Tensor } from '../formats/model.js'
import { quote } from '../formats/quote.js'
import { encodeDirectory, type DirectoryEntry } from '../image/directory.js'
import {
  alignUp,
  ALIGNMENT_BYTES,
  chunksOf,
  DATA_START_BYTES,
  MAX_MANIFEST_BYTES,
  type CheckedExtent,
} from '../image/format.js'
import { encodeManifest, type Manifest, type PackedLayer } from '../image/manifest.js'
import { modelNameFor } from './model-name.js'

/** Where everything will lie. Checksums, digests and the fingerprint are not known yet, and stand there as zeros. */
export interface PackPlan {
  readonly name: string
  /** Where the image's extents begin and end, in bytes from the start of the namespace. */
  readonly startBytes: number
  readonly endBytes: number
  /** Of the tensors, without padding. */
  readonly tensorBytes: number
  readonly chunks: number
  readonly manifest: Manifest
  readonly entry: DirectoryEntry
  readonly directory: CheckedExtent
}

export interface PlanPackOptions {
  /** The model's name in the image; when not given, what its file calls it, or the file's own name. */
  readonly name?: string
  /** Where the image's extents begin; 2 MiB when not given. */
  readonly startBytes?: number
}

const NO_DIGEST = '0'.repeat(64)

/**
 * Lays a model out as image format 1 does: layers in order of computation, then the header of its first part, the
 * chunk table, the manifest and the directory. Pure: nothing is read or written.
 *
 * @param blockBytes of the namespace; only to refuse those that the format does not fit.
 * @throws EmptyModelError, UnloadableTensorsError, BlockSizeError, ManifestTooLongError; RangeError for a bad name.
 */
export function planPack(model: Model, blockBytes: number, options: PlanPackOptions = {}): PackPlan {
  const { startBytes = DATA_START_BYTES } = options
  const name = modelNameFor(model, options.name)
  if (model.tensors.length === 0) throw new EmptyModelError(model)
  const unloadable = model.tensors.filter(({ loadable }) => !loadable)
  if (unloadable.length > 0) throw new UnloadableTensorsError(model, unloadable)
  if (ALIGNMENT_BYTES % blockBytes !== 0) throw new BlockSizeError(blockBytes)

  let endBytes = startBytes
  const place = (lengthBytes: number): CheckedExtent => {
    const extent = { offsetBytes: endBytes, lengthBytes, crc32: 0 }
    endBytes = alignUp(endBytes + lengthBytes)
    return extent
  }
  let chunks = 0
  const layers = model.layers.map((layer): PackedLayer => {
    const { tensors, lengthBytes } = layOutLayer(layer)
    const { offsetBytes } = place(lengthBytes)
    const packed = { name: layer.name, offsetBytes, lengthBytes, tensors, firstChunk: chunks }
    chunks += chunksOf(lengthBytes)
    return packed
  })
  const manifest: Manifest = {
    name,
    fingerprint: NO_DIGEST,
    source: {
      format: model.format,
      formatVersion: model.formatVersion,
      // JSON cannot tell an empty string that means something from one that does not; the header keeps it anyway.
      name: model.name === '' ? undefined : model.name,
      architecture: model.architecture === '' ? undefined : model.architecture,
    },
    header: place(model.parts[0].headerBytes),
    chunkTable: place(chunks * 4),
    layers,
  }
  // Checksums and digests have a fixed number of digits, so what is encoded now is as long as what will be written.
  const manifestBytes = encodeManifest(manifest).byteLength
  if (manifestBytes > MAX_MANIFEST_BYTES) throw new ManifestTooLongError(model, manifestBytes)
  const entry = { name, fingerprint: NO_DIGEST, manifest: place(manifestBytes) }
  const directory = place(encodeDirectory([entry]).byteLength)
  const tensorBytes = model.layers.reduce((sum, { lengthBytes }) => sum + lengthBytes, 0)
  return { name, startBytes, endBytes, tensorBytes, chunks, manifest, entry, directory }
}

function layOutLayer({ tensors }: Layer): Pick<PackedLayer, 'tensors' | 'lengthBytes'> {
  let endBytes = 0
  const packed = tensors.map(({ name, dtype, shape, lengthBytes }) => {
    const offsetBytes = endBytes
    endBytes = alignUp(offsetBytes + lengthBytes)
    return { name, dtype, shape, offsetBytes, lengthBytes, sha256: NO_DIGEST }
  })
  return { tensors: packed, lengthBytes: endBytes }
}

/** A model without tensors. */
export class EmptyModelError extends GpuNvmeError {
  readonly code = 'ERR_GPUNVME_EMPTY_MODEL'
  readonly category = 'infeasible'

  constructor({ parts }: Model) {
    super(`Cannot pack ${parts[0].source.name}: it has no tensors`, { next: 'name the file that holds the weights' })
  }
}

/** The model has tensors whose type is unknown or retired, so that nobody could use what would be written. */
export class UnloadableTensorsError extends GpuNvmeError {
  readonly code = 'ERR_GPUNVME_UNLOADABLE_TENSORS'
  readonly category = 'infeasible'
  readonly tensors: readonly Tensor[]

  constructor({ parts }: Model, tensors: readonly Tensor[]) {
    const shown = tensors.slice(0, 10).map(({ name, dtype }) => `${quote(name)} is of ${quote(dtype)}`)
    const more = tensors.length > shown.length ? [`and ${tensors.length - shown.length} more`] : []
    super(`Cannot pack ${parts[0].source.name}: ${tensors.length} of its tensors are of a type that is not known`, {
      facts: [...shown, ...more],
      next: 'convert the model with a current tool, or use a newer @gpunvme/layer-loader',
    })
    this.tensors = tensors
  }
}

/** The namespace's logical blocks do not divide the image's alignment. */
export class BlockSizeError extends GpuNvmeError {
  readonly code = 'ERR_GPUNVME_IMAGE_BLOCK_SIZE'
  readonly category = 'infeasible'

  constructor(blockBytes: number) {
    super(`An image needs logical blocks that divide ${ALIGNMENT_BYTES} bytes, the namespace has ${blockBytes}`, {
      next: `format the namespace with 512-byte or ${ALIGNMENT_BYTES}-byte blocks (this erases it)`,
    })
  }
}

/** The model has more or longer names than a manifest holds. */
export class ManifestTooLongError extends GpuNvmeError {
  readonly code = 'ERR_GPUNVME_MANIFEST_TOO_LONG'
  readonly category = 'infeasible'

  constructor({ parts, tensors }: Model, manifestBytes: number) {
    super(`Cannot pack ${parts[0].source.name}: its manifest would be too long`, {
      facts: [`${manifestBytes} bytes for ${tensors.length} tensors`, `image format 1 allows ${MAX_MANIFEST_BYTES}`],
    })
  }
}
