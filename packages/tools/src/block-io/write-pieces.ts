import type { WritableNamespace } from '@gpunvme/host-driver'
import { BufferedTransfers } from '@gpunvme/layer-loader/store'
import { GpuNvmeError } from '@gpunvme/nvme-spec/error'
import { createHash } from 'node:crypto'
import type { ByteSource } from './byte-source.js'
import { partialBlockError } from './partial-block.js'
import { WriteStoppedError } from './write-stopped.js'
import { ToolsError } from '../command-line/tools-error.js'

/** Large enough to keep a drive busy, small enough to be locked in memory on any machine. */
const PIECE_BYTES = 4 * 1024 * 1024

/** One is written while the other is filled. */
const BUFFERS = 2

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
  const pieces = Math.ceil((source.lengthBytes ?? Infinity) / pieceBytes)
  const digests: Buffer[] = []
  let begunBytes = 0
  let writtenBytes = 0
  let paddedBytes = 0
  try {
    await using writes = new BufferedTransfers(namespace.dma, Math.min(BUFFERS, pieces), pieceBytes, signal)
    for (;;) {
      const buffer = await writes.take()
      const roomBytes = Math.min(pieceBytes, capacityBytes - offsetBytes - begunBytes)
      if (roomBytes === 0) {
        if (await source.hasMore())
          throw new ToolsError(
            'ERR_GPUNVME_NO_ROOM',
            'infeasible',
            `Namespace ${namespace.nsid} is full: it ends at byte ${capacityBytes}`,
            {
              next: 'limit the write with --length SIZE, or use a lower --offset',
            },
          )
        break
      }
      const bytes = buffer.bytes.subarray(0, roomBytes)
      const filledBytes = await source.fill(bytes)
      if (filledBytes === 0) break
      const blocks = Math.ceil(filledBytes / blockBytes)
      paddedBytes = blocks * blockBytes - filledBytes
      if (paddedBytes > 0 && !padZero) throw partialBlockError(source.name, filledBytes % blockBytes, blockBytes)
      const whole = bytes.subarray(0, blocks * blockBytes)
      whole.fill(0, filledBytes)
      if (keepDigests) digests.push(createHash('sha256').update(whole).digest())
      const slba = (offsetBytes + begunBytes) / blockBytes
      const endBytes = (begunBytes += whole.length)
      // Pieces after a failed one may be on the drive, but do not count.
      const landed = () => {
        writtenBytes = endBytes
        onProgress?.(endBytes)
      }
      // The signal does not apply: a started piece is written completely.
      writes.run(buffer, ({ memory }) => namespace.write(slba, blocks, memory), landed)
    }
    await writes.drain()
    await namespace.flush()
    return { lengthBytes: writtenBytes, paddedBytes, digests, pieceBytes }
  } catch (cause) {
    if (begunBytes === 0 || isRefusal(cause)) throw cause
    const isFlushed = await flushed(namespace)
    throw new WriteStoppedError(cause, { offsetBytes, writtenBytes, begunBytes, blockBytes, isFlushed })
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
