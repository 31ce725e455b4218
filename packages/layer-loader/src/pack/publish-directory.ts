import { randomBytes } from 'node:crypto'
import { crc32 } from 'node:zlib'
import type { SuperblockCopy } from '../image/copies.js'
import { encodeDirectory, type DirectoryEntry } from '../image/directory.js'
import type { Extent } from '../image/format.js'
import type { WritableBlockStore } from '../store/store.js'
import { refuseIfChanged } from './changed-meanwhile.js'
import { publish, writeBytes } from './publish.js'
import type { Target } from './target.js'

/** Identifies the software that wrote the image. */
const WRITER = '@gpunvme/layer-loader'

const IMAGE_ID_BYTES = 16

export interface DirectoryToPublish {
  readonly entries: readonly DirectoryEntry[]
  /** Its location, in free space of the live image. */
  readonly directory: Extent
  /** End of the last extent, of those that the entries refer to and of the directory. */
  readonly usedEndBytes: number
  /** Offset after the last byte that this publication wrote. Default: `usedEndBytes`. */
  readonly writtenEndBytes?: number
  /** Higher than that of all copies. */
  readonly generation: number
  /** 16 bytes. Default: random. */
  readonly imageId?: Uint8Array
}

/** Identification of a publication. */
export interface Publication {
  /** 32 hexadecimal digits. */
  readonly imageId: string
  readonly generation: number
}

/**
 * Writes a directory, and publishes it. All manifests, tables and layers that it refers to are already on the store.
 *
 * @throws RangeError for an image id of a wrong length; LoaderError (IMAGE_CHANGED); errors of writing; the signal's
 * reason.
 */
export async function publishDirectory(
  { store, copies }: Target<WritableBlockStore>,
  change: DirectoryToPublish,
  signal: AbortSignal | undefined,
): Promise<Publication> {
  const { entries, directory, usedEndBytes, generation, imageId = randomBytes(IMAGE_ID_BYTES) } = change
  const encoded = encodeDirectory(entries)
  await writeBytes(store, directory.offsetBytes, encoded, signal)
  await refuseIfChanged(store, copies, { ...(signal && { signal }) })
  signal?.throwIfAborted()
  const publication = { imageId: Buffer.from(imageId).toString('hex'), generation }
  const { offsetBytes } = directory
  const place = { offsetBytes, lengthBytes: encoded.byteLength, crc32: crc32(encoded) }
  const writtenEndBytes = Math.max(usedEndBytes, change.writtenEndBytes ?? 0, writtenEndOf(copies))
  await publish(store, { ...publication, directory: place, usedEndBytes, writtenEndBytes, writer: WRITER }, copies)
  return publication
}

/**
 * Returns the offset after the last byte that any publication wrote, from all superblock copies; 0 if none is valid.
 */
export function writtenEndOf(copies: readonly SuperblockCopy[]): number {
  return copies.reduce((end, { superblock }) => Math.max(end, superblock?.writtenEndBytes ?? 0), 0)
}

/** Returns one more than the highest known generation. */
export function nextGeneration(copies: readonly SuperblockCopy[]): number {
  return 1 + copies.reduce((max, { superblock }) => Math.max(max, superblock?.generation ?? 0), 0)
}

/** @throws RangeError for an image id of a wrong length. */
export function checkImageId(imageId: Uint8Array | undefined): void {
  if (imageId === undefined || imageId.length === IMAGE_ID_BYTES) return
  throw new RangeError(`imageId: expected ${IMAGE_ID_BYTES} bytes, got ${imageId.length}`)
}
