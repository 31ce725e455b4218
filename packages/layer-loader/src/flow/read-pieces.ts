import type { ExecuteOptions } from '@gpunvme/nvme-spec/transport'
import type { Extent } from '../image/format.js'
import { asStore, type Readable } from '../store/as-store.js'
import { coverOf, readInto } from '../store/read-bytes.js'
import { piecesOf } from '../store/store.js'
import { BufferedTransfers } from './buffers.js'

/** Large enough to keep a drive busy, small enough to be locked in memory on any machine. */
const PIECE_BYTES = 4 * 1024 * 1024

/** One is filled while the other is used. */
const BUFFERS = 2

/** Bytes of a range. */
export interface Piece {
  /** Offset from the start of the store or namespace. */
  readonly offsetBytes: number
  /** Valid until the next piece is requested. */
  readonly bytes: Uint8Array
}

/** Options of `readPieces`. */
export interface ReadPiecesOptions extends ExecuteOptions {
  /** Bytes per piece, rounded down to whole blocks, but at least one. Default: 4 MiB. */
  readonly pieceBytes?: number
}

/**
 * Yields the bytes of any range in order, in pieces: the next piece is read while one is used. Memory is bounded by two
 * pieces, and freed when the iteration ends.
 * @throws RangeError for a range outside the store; errors of `BlockStore.read`; the signal's reason.
 */
export async function* readPieces(
  target: Readable,
  range: Extent,
  { pieceBytes = PIECE_BYTES, ...options }: ReadPiecesOptions = {},
): AsyncGenerator<Piece, void, undefined> {
  const store = asStore(target)
  const { blockBytes } = store
  const stepBytes = Math.max(1, Math.floor(pieceBytes / blockBytes)) * blockBytes
  const count = Math.min(BUFFERS, Math.ceil(range.lengthBytes / stepBytes))
  const { lengthBytes } = coverOf({ ...range, lengthBytes: Math.min(stepBytes, range.lengthBytes) }, blockBytes)
  await using reads = new BufferedTransfers(store.dma, count, lengthBytes, options.signal)
  yield* reads.inOrder(piecesOf([{ ...range, memoryBytes: 0 }], stepBytes), async (piece, buffer) => ({
    offsetBytes: piece.offsetBytes,
    bytes: await readInto(store, piece, buffer, options),
  }))
}
