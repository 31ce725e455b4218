import { crc32 } from 'node:zlib'
import { BufferPool, type HostBuffer } from '../buffer-pool.js'
import type { Model } from '../formats/model.js'
import { isMediaError } from '../image/copies.js'
import { alignUp, CHUNK_BYTES, chunksOf } from '../image/format.js'
import { sumOf } from '../image/holes.js'
import type { WritableBlockStore } from '../store/store.js'
import { Digests } from './digests.js'
import type { Journal } from './journal.js'
import type { PackPlan } from './lay-out.js'
import type { PackProgress } from './pack.js'
import { isLeft } from './notes.js'
import { PIECE_BYTES, piecesOf, type Piece } from './pieces.js'

/** With pieces of 4 MiB: 32 MiB of writes in flight while the next piece is read from the file. */
const BUFFERS = 8

export interface WritePiecesOptions {
  readonly journal: Journal
  /** How much is written from one note to the next. */
  readonly checkpointBytes: number
  readonly signal?: AbortSignal
  readonly onProgress?: (progress: PackProgress) => void
}

/** What writing has brought. */
export interface WrittenPieces {
  readonly digests: Digests
  /** Of layers, that an earlier packing had written and this one has read back. */
  readonly resumedBytes: number
}

/**
 * Writes the layers and the source's header, and gives the checksums of what was written. Reads from the files and
 * writes to the drive overlap; memory is bounded by the buffers, however large the model. What an earlier packing
 * has left is read back from the drive instead, and written again where it is not what its checksums say.
 */
export async function writePieces(
  model: Model,
  store: WritableBlockStore,
  plan: PackPlan,
  { journal, checkpointBytes, signal, onProgress }: WritePiecesOptions,
): Promise<WrittenPieces> {
  const { layers, header } = plan.manifest
  const totalBytes = sumOf([...layers, header])
  const longestBytes = layers.reduce((most, { lengthBytes }) => Math.max(most, lengthBytes), header.lengthBytes)
  const digests = new Digests(plan)
  let doneBytes = 0
  let resumedBytes = 0
  let unnotedBytes = 0
  const progress = ({ lengthBytes }: Piece) => {
    doneBytes += lengthBytes
    onProgress?.({ doneBytes, totalBytes })
  }
  await using pool = new BufferPool(store.dma, BUFFERS, Math.min(PIECE_BYTES, alignUp(longestBytes)))
  for (const piece of piecesOf(model, plan)) {
    const buffer = await pool.take()
    const bytes = buffer.bytes.subarray(0, piece.lengthBytes)
    if (isLeft(piece, journal) && (await readBack(piece, buffer, store, journal.chunkCrcs, signal))) {
      digests.add(piece, bytes)
      resumedBytes += piece.lengthBytes
      progress(piece)
      pool.run(buffer, () => Promise.resolve())
      continue
    }
    await fill(piece, buffer, signal)
    digests.add(piece, bytes)
    pool.run(buffer, async ({ memory }) => {
      await store.write([transferOf(piece)], memory, signal && { signal })
      progress(piece)
    })
    if (piece.firstChunk < 0 || !journal.isKept) continue
    journal.corrected(piece.firstChunk)
    unnotedBytes += piece.lengthBytes
    const writtenChunks = piece.firstChunk + chunksOf(piece.lengthBytes)
    // What an earlier packing has left beyond this piece is still there, and is not to be forgotten.
    if (unnotedBytes < checkpointBytes || writtenChunks < journal.chunkCrcs.length) continue
    await pool.drain()
    await refuseChangedFiles(model)
    await journal.note(digests.chunkCrcs, writtenChunks, signal)
    unnotedBytes = 0
  }
  await pool.drain()
  await refuseChangedFiles(model)
  return { digests, resumedBytes }
}

/** What was read of a file that somebody writes to is some of it before, some after. @throws SourceChangedError */
async function refuseChangedFiles({ parts }: Model): Promise<void> {
  for (const { source } of parts) await source.checkUnchanged?.()
}

const transferOf = ({ offsetBytes, lengthBytes }: Piece) => ({
  offsetBytes,
  lengthBytes: alignUp(lengthBytes),
  memoryBytes: 0,
})

/** Reads what an earlier packing has written, and says whether it is what that one has noted. */
async function readBack(
  piece: Piece,
  { memory, bytes }: HostBuffer,
  store: WritableBlockStore,
  chunkCrcs: Uint32Array,
  signal: AbortSignal | undefined,
): Promise<boolean> {
  try {
    await store.read([transferOf(piece)], memory, signal && { signal })
  } catch (error) {
    if (isMediaError(error)) return false
    throw error
  }
  for (let at = 0; at < piece.lengthBytes; at += CHUNK_BYTES) {
    const chunk = bytes.subarray(at, Math.min(at + CHUNK_BYTES, piece.lengthBytes))
    if (crc32(chunk) !== chunkCrcs[piece.firstChunk + at / CHUNK_BYTES]) return false
  }
  return true
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
