/** Constants of image format 1, explained in docs/image-format-1.md. */

/** A kibibyte and a mebibyte, in bytes. */
const KIB = 1024
const MIB = 1024 * KIB

/** Version of the image format. */
export const FORMAT_VERSION = 1

/** Bytes of a superblock, and of the label of a set's member. */
export const RECORD_BYTES = 4 * KIB

/** Offsets of the two copies of a superblock or label, in bytes. */
export const COPY_OFFSET_BYTES = { A: 0, B: MIB } as const

export type CopyName = keyof typeof COPY_OFFSET_BYTES

/** All other structures start at or after this byte. The rest before it is reserved and zero. */
export const DATA_START_BYTES = 2 * MIB

/** Alignment of each extent, and of each tensor in its layer. */
export const ALIGNMENT_BYTES = 4 * KIB

/** Bytes of a layer per checksum. The last chunk of a layer may be shorter. */
export const CHUNK_BYTES = MIB

/** Maximum allocation of a reader for a directory or a manifest, whatever an image claims. */
export const MAX_DIRECTORY_BYTES = MIB
export const MAX_MANIFEST_BYTES = 128 * MIB

export const MAX_MODELS = 1024
export const MAX_LAYERS = 1_000_000
export const MAX_TENSORS = 1_000_000
export const MAX_DIMENSIONS = 64

/** Maximum UTF-8 bytes of the name of a model, and of a layer, tensor or other name. */
export const MAX_MODEL_NAME_BYTES = 255
export const MAX_NAME_BYTES = 65_535

export function alignUp(bytes: number): number {
  return Math.ceil(bytes / ALIGNMENT_BYTES) * ALIGNMENT_BYTES
}

/** Returns the number of chunks of a layer. */
export function chunksOf(layerBytes: number): number {
  return Math.ceil(layerBytes / CHUNK_BYTES)
}

/** A run of bytes of a store. */
export interface Extent {
  /** Offset from the start of the store. */
  readonly offsetBytes: number
  readonly lengthBytes: number
}

/** An extent with one CRC-32. */
export interface CheckedExtent extends Extent {
  readonly crc32: number
}
