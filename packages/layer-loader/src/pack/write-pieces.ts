import { crc32 } from 'node:zlib'
import { BufferedTransfers, type HostBuffer } from '../flow/buffers.js'
import type { Model } from '../formats/model.js'
import { isMediaError } from '../image/sealed-record.js'
import { alignUp, CHUNK_BYTES, chunksOf } from '../image/format.js'
import { sumOf } from '../image/holes.js'
import type { WritableBlockStore } from '../store/store.js'
import { Digests } from './digests.js'
import type { Journal } from './journal.js'
import type { PackPlan } from './lay-out.js'
import type { PackProgress } from './pack.js'
import { isLeft } from './notes.js'
import { PIECE_BYTES, piecesOf, type Piece } from './pieces.js'

/** With 4 MiB pieces: 32 MiB of writes in flight while the next piece is read from the file. */
const BUFFERS = 8

export interface WritePiecesOptions {
  readonly journal: Journal
  /** Bytes written between notes. */
  readonly checkpointBytes: number
  readonly signal?: AbortSignal
  readonly onProgress?: (progress: PackProgress) => void
}

/** Result of writing. */
export interface WrittenPieces {
  readonly digests: Digests
  /** Bytes of layers that an earlier packing had written, and that were read back. */
  readonly resumedBytes: number
}

/**
 * Writes the layers and the source's header, and returns their checksums. Reads from the files and writes to the drive
 * overlap; the buffers bound memory for any model. Data left by an earlier packing are read back instead, and rewritten
 * if checksums do not match.
 */
export async function writePieces(
  model: Model,
  store: WritableBlockStore,
  plan: PackPlan,
  { journal, checkpointBytes, signal, onProgress }: WritePiecesOptions,
): Promise<WrittenPieces> {
  const { layers, header } = plan.manifest
  const totalBytes = sumOf([...layers, header])
  const longestBytes = layers.reduce((max, { lengthBytes }) => Math.max(max, lengthBytes), header.lengthBytes)
  const digests = new Digests(plan)
  let doneBytes = 0
  let resumedBytes = 0
  let unnotedBytes = 0
  const progress = ({ lengthBytes }: Piece) => {
    doneBytes += lengthBytes
    onProgress?.({ doneBytes, totalBytes })
  }
  const bufferBytes = Math.min(PIECE_BYTES, alignUp(longestBytes))
  await using writes = new BufferedTransfers(store.dma, BUFFERS, bufferBytes, signal)
  for (const piece of piecesOf(model, plan)) {
    const buffer = await writes.take()
    const bytes = buffer.bytes.subarray(0, piece.lengthBytes)
    const isThere = isLeft(piece, journal) && (await readBack(piece, buffer, store, journal.chunkCrcs, signal))
    if (isThere) resumedBytes += piece.lengthBytes
    else await fill(piece, buffer, signal)
    digests.add(piece, bytes)
    writes.run(buffer, async ({ memory }) => {
      if (!isThere) await store.write([transferOf(piece)], memory, signal && { signal })
      progress(piece)
    })
    if (isThere || piece.firstChunk < 0 || !journal.isKept) continue
    journal.corrected(piece.firstChunk)
    unnotedBytes += piece.lengthBytes
    const writtenChunks = piece.firstChunk + chunksOf(piece.lengthBytes)
    // Data left by an earlier packing beyond this piece still count.
    if (unnotedBytes < checkpointBytes || writtenChunks < journal.chunkCrcs.length) continue
    await writes.drain()
    await refuseChangedFiles(model)
    await journal.note(digests.chunkCrcs, writtenChunks, signal)
    unnotedBytes = 0
  }
  await writes.drain()
  await refuseChangedFiles(model)
  return { digests, resumedBytes }
}

/** Data read from a file that is written meanwhile may be inconsistent. @throws LoaderError (SOURCE_CHANGED) */
async function refuseChangedFiles({ parts }: Model): Promise<void> {
  for (const { source } of parts) await source.checkUnchanged?.()
}

const transferOf = ({ offsetBytes, lengthBytes }: Piece) => ({
  offsetBytes,
  lengthBytes: alignUp(lengthBytes),
  memoryBytes: 0,
})

/** Reads data of an earlier packing, and returns whether they match its note. */
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

/** Reads the piece's bytes from the model's files. Padding is zeroed, since buffers are reused. */
async function fill(piece: Piece, { bytes }: HostBuffer, signal?: AbortSignal): Promise<void> {
  let endBytes = 0
  for (const { source, sourceBytes, pieceBytes, lengthBytes } of piece.parts) {
    bytes.fill(0, endBytes, pieceBytes)
    endBytes = pieceBytes + lengthBytes
    await source.read(sourceBytes, bytes.subarray(pieceBytes, endBytes), signal && { signal })
  }
  bytes.fill(0, endBytes, alignUp(piece.lengthBytes))
}
