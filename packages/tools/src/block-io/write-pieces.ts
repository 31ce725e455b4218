import type { WritableNamespace } from '@gpunvme/host-driver'
import { GpuNvmeError } from '@gpunvme/nvme-spec/error'
import type { DmaMemory } from '@gpunvme/nvme-spec/transport'
import { createHash } from 'node:crypto'
import type { ByteSource } from './byte-source.js'
import { PIECE_BYTES } from './read-pieces.js'
import { PartialBlockError } from './partial-block.js'
import { WriteStoppedError } from './write-stopped.js'
import { ToolsError } from '../command-line/tools-error.js'

/** Two are being written while the third is filled. */
const BUFFERS = 3

export interface WriteRequest {
  /** Offset of the first byte: the start of a block. */
  readonly offsetBytes: number
  /** Whether to pad the last block with zeros instead of rejecting it. */
  readonly padZero: boolean
  /** Whether to keep digests for a later comparison. */
  readonly keepDigests: boolean
  /** Aborts between pieces. Pieces in flight are awaited, so that the written length is known. */
  readonly signal: AbortSignal
  readonly pieceBytes?: number
  readonly onProgress?: (writtenBytes: number) => void
}

export interface Written {
  /** Written bytes: whole blocks, including padding. */
  readonly lengthBytes: number
  readonly paddedBytes: number
  /** SHA-256 of each `pieceBytes`, if requested. */
  readonly digests: readonly Buffer[]
  readonly pieceBytes: number
}

/** A piece in flight. */
interface Flight {
  readonly endBytes: number
  /** Settles when the drive has answered. Never rejects. */
  readonly ended: Promise<PromiseSettledResult<void>>
}

/**
 * Writes all bytes of a source in pieces, and flushes.
 * @throws WriteStoppedError for failures after the first piece was submitted; before that, the cause.
 */
export async function writePieces(
  namespace: WritableNamespace,
  source: ByteSource,
  request: WriteRequest,
): Promise<Written> {
  const { offsetBytes, padZero, keepDigests, signal, onProgress } = request
  const { blockBytes, capacityBytes } = namespace
  const pieceBytes = Math.max(1, Math.floor((request.pieceBytes ?? PIECE_BYTES) / blockBytes)) * blockBytes
  const memories: DmaMemory[] = []
  const flights: Flight[] = []
  const digests: Buffer[] = []
  let begunBytes = 0
  let writtenBytes = 0
  let paddedBytes = 0
  const land = async () => {
    const { endBytes, ended } = flights[0]!
    const result = await ended
    if (result.status === 'rejected') throw result.reason
    flights.shift()
    writtenBytes = endBytes
    onProgress?.(writtenBytes)
  }
  try {
    for (let piece = 0; ; piece++) {
      if (flights.length === BUFFERS - 1) await land()
      signal.throwIfAborted()
      const roomBytes = Math.min(pieceBytes, capacityBytes - offsetBytes - begunBytes)
      if (roomBytes === 0) {
        if (await source.hasMore()) throw new NoRoomError(namespace.nsid, capacityBytes)
        break
      }
      const memory = (memories[piece % BUFFERS] ??= namespace.dma.alloc(pieceBytes))
      const { buffer, byteOffset } = memory.view!
      const bytes = new Uint8Array(buffer, byteOffset, roomBytes)
      const filledBytes = await source.fill(bytes)
      if (filledBytes === 0) break
      const blocks = Math.ceil(filledBytes / blockBytes)
      paddedBytes = blocks * blockBytes - filledBytes
      if (paddedBytes > 0 && !padZero) throw new PartialBlockError(source.name, filledBytes % blockBytes, blockBytes)
      const whole = bytes.subarray(0, blocks * blockBytes)
      whole.fill(0, filledBytes)
      if (keepDigests) digests.push(createHash('sha256').update(whole).digest())
      const slba = (offsetBytes + begunBytes) / blockBytes
      begunBytes += whole.length
      // The signal does not apply: a started piece is written completely.
      const writing = namespace.write(slba, blocks, memory)
      flights.push({ endBytes: begunBytes, ended: Promise.allSettled([writing]).then(([result]) => result) })
    }
    while (flights.length > 0) await land()
    await namespace.flush()
    return { lengthBytes: writtenBytes, paddedBytes, digests, pieceBytes }
  } catch (cause) {
    for (const { endBytes, ended } of flights) {
      // Pieces after a failed one may be on the drive, but do not count.
      if ((await ended).status === 'rejected') break
      writtenBytes = endBytes
    }
    await Promise.all(flights.map(({ ended }) => ended))
    if (begunBytes === 0 || isRefusal(cause)) throw cause
    const isFlushed = await flushed(namespace)
    throw new WriteStoppedError(cause, { offsetBytes, writtenBytes, begunBytes, blockBytes, isFlushed })
  } finally {
    for (const memory of memories) memory.free()
  }
}

/** Returns whether the guard rejected the write before anything was sent. */
function isRefusal(cause: unknown): boolean {
  return cause instanceof GpuNvmeError && cause.category === 'privilege'
}

/** Flushes after a failure. It may fail too, which is recorded but not reported as the error. */
async function flushed(namespace: WritableNamespace): Promise<boolean> {
  try {
    await namespace.flush()
    return true
  } catch (error) {
    if (error instanceof GpuNvmeError) return false
    throw error
  }
}

/** Error of a source that is longer than the namespace. */
export class NoRoomError extends ToolsError {
  readonly code = 'ERR_GPUNVME_NO_ROOM'
  readonly category = 'infeasible'
  constructor(nsid: number, capacityBytes: number) {
    super(`Namespace ${nsid} is full: it ends at byte ${capacityBytes}`, {
      next: 'limit the write with --length SIZE, or use a lower --offset',
    })
  }
}
