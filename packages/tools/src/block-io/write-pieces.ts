import type { WritableNamespace } from '@gpunvme/host-driver'
import { GpuNvmeError } from '@gpunvme/nvme-spec/error'
import type { DmaMemory } from '@gpunvme/nvme-spec/transport'
import { createHash } from 'node:crypto'
import type { ByteSource } from './byte-source.js'
import { PIECE_BYTES } from './read-pieces.js'
import { PartialBlockError } from './partial-block.js'
import { WriteStoppedError } from './write-stopped.js'
import { ToolsError } from '../command-line/tools-error.js'

/** Two are on their way to the drive while a third one is filled. */
const BUFFERS = 3

export interface WriteRequest {
  /** Where the first byte goes: the beginning of a block. */
  readonly offsetBytes: number
  /** What is left of the last block becomes zero, instead of being refused. */
  readonly padZero: boolean
  /** Keeps what comparing with the drive takes. */
  readonly keepDigests: boolean
  /** Ends it between two pieces: those on their way are waited for, so that it is known how far it came. */
  readonly signal: AbortSignal
  readonly pieceBytes?: number
  readonly onProgress?: (writtenBytes: number) => void
}

export interface Written {
  /** Of whole blocks, padding included. */
  readonly lengthBytes: number
  readonly paddedBytes: number
  /** SHA-256 of every `pieceBytes` of it, where they were to be kept. */
  readonly digests: readonly Buffer[]
  readonly pieceBytes: number
}

/** A piece on its way. */
interface Flight {
  readonly endBytes: number
  /** Settles when the drive has answered. It never rejects. */
  readonly ended: Promise<PromiseSettledResult<void>>
}

/**
 * Writes all that a source gives, in pieces, and flushes it.
 * @throws WriteStoppedError for everything that happens after the first piece was on its way; before it, the reason.
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
      // The signal is not for these: a piece that was begun is written whole.
      const writing = namespace.write(slba, blocks, memory)
      flights.push({ endBytes: begunBytes, ended: Promise.allSettled([writing]).then(([result]) => result) })
    }
    while (flights.length > 0) await land()
    await namespace.flush()
    return { lengthBytes: writtenBytes, paddedBytes, digests, pieceBytes }
  } catch (cause) {
    for (const { endBytes, ended } of flights) {
      // What comes after a piece that failed may be on the drive too, and nobody may rely on it.
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

/** The guard has spoken before anything was sent. */
function isRefusal(cause: unknown): boolean {
  return cause instanceof GpuNvmeError && cause.category === 'privilege'
}

/** After a failure there may be nobody left who could: that is then said, and is not the failure to report. */
async function flushed(namespace: WritableNamespace): Promise<boolean> {
  try {
    await namespace.flush()
    return true
  } catch (error) {
    if (error instanceof GpuNvmeError) return false
    throw error
  }
}

/** The source goes on, and the namespace does not. */
export class NoRoomError extends ToolsError {
  readonly code = 'ERR_GPUNVME_NO_ROOM'
  readonly category = 'infeasible'
  constructor(nsid: number, capacityBytes: number) {
    super(`Namespace ${nsid} is full: it ends at byte ${capacityBytes}`, {
      next: '--length SIZE, for as much as there is room; or a lower --offset',
    })
  }
}
