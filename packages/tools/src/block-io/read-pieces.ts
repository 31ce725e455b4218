import { asStore, type Readable } from '@gpunvme/layer-loader'
import type { AbortSignalLike } from '@gpunvme/nvme-spec/transport'
import { blocksOf, type ByteRange } from './byte-range.js'

/** Enough to keep a drive busy, and little enough for any machine to have it locked. */
export const PIECE_BYTES = 4 * 1024 * 1024

/** One is read from the drive while what is in the other is used. */
const BUFFERS = 2

/** Bytes of a range, valid until the next piece is asked for. */
export interface Piece {
  /** Where on the namespace or store they lie. */
  readonly offsetBytes: number
  readonly bytes: Uint8Array
}

export interface ReadPiecesOptions {
  readonly signal?: AbortSignalLike
  /** How many at a time, rounded to whole blocks. */
  readonly pieceBytes?: number
}

/**
 * The bytes of a range in order, in pieces, however long it is: one piece is on its way while another one is used.
 * @throws TransferError, the signal's reason, and what else `BlockStore.read` throws.
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
  // Each with its end in hand: one that fails while another piece is used must not count as unhandled.
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
    // Until the drive is done with it, the memory is not ours to give back.
    await Promise.all(begun)
    for (const memory of memories) memory.free()
  }
}
