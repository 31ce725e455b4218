import { asStore, type Readable } from '@gpunvme/layer-loader/store'
import type { AbortSignalLike } from '@gpunvme/nvme-spec/transport'
import { blocksOf, type ByteRange } from './byte-range.js'

/** Large enough to keep a drive busy, small enough to be locked in memory on any machine. */
export const PIECE_BYTES = 4 * 1024 * 1024

/** One is filled while the other is used. */
const BUFFERS = 2

/** Bytes of a range, valid until the next piece is requested. */
export interface Piece {
  /** Offset on the namespace or store. */
  readonly offsetBytes: number
  readonly bytes: Uint8Array
}

export interface ReadPiecesOptions {
  readonly signal?: AbortSignalLike
  /** Bytes per piece, rounded to whole blocks. */
  readonly pieceBytes?: number
}

/**
 * Yields the bytes of a range in order, in pieces: the next piece is read while one is used.
 * @throws TransferError, the signal's reason, and other errors of `BlockStore.read`.
 */
export async function* readPieces(
  target: Readable,
  range: ByteRange,
  { signal, pieceBytes = PIECE_BYTES }: ReadPiecesOptions = {},
): AsyncGenerator<Piece, void, undefined> {
  const store = asStore(target)
  const { blockBytes } = store
  const { slba, blocks } = blocksOf(range, blockBytes)
  const pieceBlocks = Math.min(blocks, Math.max(1, Math.floor(pieceBytes / blockBytes)))
  const pieces = Math.ceil(blocks / pieceBlocks)
  const memories = Array.from({ length: Math.min(BUFFERS, pieces) }, () => store.dma.alloc(pieceBlocks * blockBytes))
  // Each outcome is settled: a failure during the use of another piece must not be an unhandled rejection.
  const begun: Promise<PromiseSettledResult<void>[]>[] = []
  const begin = (piece: number) => {
    const at = piece * pieceBlocks
    const memory = memories[piece % memories.length]!
    const lengthBytes = Math.min(pieceBlocks, blocks - at) * blockBytes
    const transfer = { offsetBytes: (slba + at) * blockBytes, lengthBytes, memoryBytes: 0 }
    begun.push(Promise.allSettled([store.read([transfer], memory, signal && { signal }).then(() => undefined)]))
  }
  try {
    begin(0)
    for (let piece = 0; piece < pieces; piece++) {
      if (piece + 1 < pieces) begin(piece + 1)
      const [ended] = await begun.shift()!
      if (ended?.status === 'rejected') throw ended.reason
      const startBytes = (slba + piece * pieceBlocks) * blockBytes
      const from = Math.max(range.offsetBytes, startBytes)
      const to = Math.min(range.offsetBytes + range.lengthBytes, startBytes + pieceBlocks * blockBytes)
      const view = memories[piece % memories.length]!.view!
      yield {
        offsetBytes: from,
        bytes: new Uint8Array(view.buffer, view.byteOffset + (from - startBytes), to - from),
      }
    }
  } finally {
    // The memory can be freed only after the drive has finished.
    await Promise.all(begun)
    for (const memory of memories) memory.free()
  }
}
