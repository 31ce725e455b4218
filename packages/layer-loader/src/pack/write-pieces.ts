import { BufferPool, type HostBuffer } from '../buffer-pool.js'
import type { Model } from '../formats/model.js'
import { alignUp } from '../image/format.js'
import type { WritableBlockStore } from '../store/store.js'
import { Digests } from './digests.js'
import type { PackProgress } from './pack.js'
import { PIECE_BYTES, piecesOf, type Piece } from './pieces.js'
import type { PackPlan } from './lay-out.js'

/** With pieces of 4 MiB: 32 MiB of writes in flight while the next piece is read from the file. */
const BUFFERS = 8

/**
 * Writes the layers and the source's header, and gives the checksums of what was written. Reads from the files and
 * writes to the drive overlap; memory is bounded by the buffers, however large the model.
 */
export async function writePieces(
  model: Model,
  store: WritableBlockStore,
  plan: PackPlan,
  signal?: AbortSignal,
  onProgress?: (progress: PackProgress) => void,
): Promise<Digests> {
  const { dma } = store
  const { layers, header } = plan.manifest
  const totalBytes = layers.reduce((sum, { lengthBytes }) => sum + lengthBytes, header.lengthBytes)
  const longestBytes = layers.reduce((most, { lengthBytes }) => Math.max(most, lengthBytes), header.lengthBytes)
  const digests = new Digests(plan)
  let doneBytes = 0
  await using pool = new BufferPool(dma, BUFFERS, Math.min(PIECE_BYTES, alignUp(longestBytes)))
  for (const piece of piecesOf(model, plan)) {
    const buffer = await pool.take()
    await fill(piece, buffer, signal)
    digests.add(piece, buffer.bytes.subarray(0, piece.lengthBytes))
    pool.run(buffer, async ({ memory }) => {
      const transfer = { offsetBytes: piece.offsetBytes, lengthBytes: alignUp(piece.lengthBytes), memoryBytes: 0 }
      await store.write([transfer], memory, signal && { signal })
      doneBytes += piece.lengthBytes
      onProgress?.({ doneBytes, totalBytes })
    })
  }
  await pool.drain()
  return digests
}

/** Brings the piece's bytes from the model's files; what they do not cover is zero, since buffers are used again. */
async function fill(piece: Piece, { bytes }: HostBuffer, signal?: AbortSignal): Promise<void> {
  let endBytes = 0
  for (const { source, sourceBytes, pieceBytes, lengthBytes } of piece.parts) {
    bytes.fill(0, endBytes, pieceBytes)
    endBytes = pieceBytes + lengthBytes
    await source.read(sourceBytes, bytes.subarray(pieceBytes, endBytes), signal && { signal })
  }
  bytes.fill(0, endBytes, alignUp(piece.lengthBytes))
}
