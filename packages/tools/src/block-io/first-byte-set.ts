import { readPieces, type Readable } from '@gpunvme/layer-loader/store'
import type { AbortSignalLike } from '@gpunvme/nvme-spec/transport'
import type { ByteRange } from './byte-range.js'

/** Bytes that are compared at once. */
const PIECE_BYTES = 4 * 1024 * 1024

export interface ScanOptions {
  readonly signal?: AbortSignalLike
  /** Called after each piece with the number of bytes read so far. */
  readonly onProgress?: (doneBytes: number) => void
}

/**
 * Returns the offset of the first nonzero byte of a range; undefined if all bytes are zero. Reads every byte, without
 * sampling. Holes of a sparse file need no disk access, since the kernel supplies zeros; Node has no lseek(2) to skip them.
 * @throws errors of reading; the signal's reason.
 */
export async function firstByteSet(
  target: Readable,
  range: ByteRange,
  { signal, onProgress }: ScanOptions = {},
): Promise<number | undefined> {
  const zeros = Buffer.alloc(Math.min(PIECE_BYTES, range.lengthBytes))
  for await (const { offsetBytes, bytes } of readPieces(target, range, {
    pieceBytes: PIECE_BYTES,
    ...(signal && { signal }),
  })) {
    // memcmp is several times as fast as a loop over bytes.
    if (!zeros.subarray(0, bytes.length).equals(bytes)) return offsetBytes + bytes.findIndex((byte) => byte !== 0)
    onProgress?.(offsetBytes + bytes.length - range.offsetBytes)
  }
  return undefined
}
