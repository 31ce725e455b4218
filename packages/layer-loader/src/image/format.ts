/** The numbers of image format 1. docs/image-format-1.md says what they are for. */

/** A kibibyte and a mebibyte, in bytes. */
const KIB = 1024
const MIB = 1024 * KIB

export const FORMAT_VERSION = 1

export const SUPERBLOCK_BYTES = 4 * KIB

/** Where the two copies of the superblock start, in bytes. */
export const COPY_OFFSET_BYTES = { A: 0, B: MIB } as const

export type CopyName = keyof typeof COPY_OFFSET_BYTES

/** Everything else lies at or after this byte. What is before it and not a superblock is reserved, and zero. */
export const DATA_START_BYTES = 2 * MIB

/** Every extent, and every tensor inside its layer, starts at a multiple of this. */
export const ALIGNMENT_BYTES = 4 * KIB

/** One checksum stands for this much of a layer; the last chunk of a layer is as long as what is left. */
export const CHUNK_BYTES = MIB

/** A reader allocates no more than this for a directory or a manifest, whatever an image says. */
export const MAX_DIRECTORY_BYTES = MIB
export const MAX_MANIFEST_BYTES = 128 * MIB

export const MAX_MODELS = 1024
export const MAX_LAYERS = 1_000_000
export const MAX_TENSORS = 1_000_000
export const MAX_DIMENSIONS = 64

/** UTF-8 bytes of a model's name, and of a layer's, tensor's or any other name. */
export const MAX_MODEL_NAME_BYTES = 255
export const MAX_NAME_BYTES = 65_535

export function alignUp(bytes: number): number {
  return Math.ceil(bytes / ALIGNMENT_BYTES) * ALIGNMENT_BYTES
}

/** How many chunks a layer of this length has. */
export function chunksOf(layerBytes: number): number {
  return Math.ceil(layerBytes / CHUNK_BYTES)
}

/** A run of bytes of a store. */
export interface Extent {
  /** From the start of the store. */
  readonly offsetBytes: number
  readonly lengthBytes: number
}

/** An extent whose bytes have one CRC-32. */
export interface CheckedExtent extends Extent {
  readonly crc32: number
}
