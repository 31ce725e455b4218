import type { Namespace } from '@gpunvme/host-driver'
import type { AbortSignalLike } from '@gpunvme/nvme-spec/transport'
import type { ByteRange } from './byte-range.js'
import { PIECE_BYTES, readPieces } from './read-pieces.js'

export interface ScanOptions {
  readonly signal?: AbortSignalLike
  /** Called after each piece with the bytes of the range that were read. */
  readonly onProgress?: (doneBytes: number) => void
}

/**
 * Returns the offset of the first byte of a range that is not zero; undefined if all are zero. Reads every byte: nothing
 * is sampled, so no data is missed. Holes of a sparse file cost no disk access, since the kernel supplies their zeros;
 * Node has no lseek(2) that would skip them.
 * @throws what reading throws; the signal's reason.
 */
export async function firstByteSet(
  namespace: Namespace,
  range: ByteRange,
  { signal, onProgress }: ScanOptions = {},
): Promise<number | undefined> {
  const zeros = Buffer.alloc(Math.min(PIECE_BYTES, range.lengthBytes))
  for await (const { offsetBytes, bytes } of readPieces(namespace, range, signal && { signal })) {
    // memcmp is several times as fast as a loop over bytes.
    if (!zeros.subarray(0, bytes.length).equals(bytes)) return offsetBytes + bytes.findIndex((byte) => byte !== 0)
    onProgress?.(offsetBytes + bytes.length - range.offsetBytes)
  }
  return undefined
}
