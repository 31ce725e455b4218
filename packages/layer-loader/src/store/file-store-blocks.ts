import { GpuNvmeError } from '@gpunvme/nvme-spec/error'
import type { AbortSignalLike, Clock, DmaMemory, ExecuteOptions, ReadChecksums } from '@gpunvme/nvme-spec/transport'
import { Transfers, Turns } from '../flow/transfers.js'
import { NEXT_IF_CHANGED, readFailed } from '../formats/file-source.js'
import { throwIfAborted } from '../throw-if-aborted.js'
import { fileMemory, isUnaligned } from './file-store-memory.js'
import { bytesIn } from './memory-bytes.js'
import { RangeSums } from './range-sums.js'
import {
  checkTransfers,
  piecesOf,
  type BlockStore,
  type ChecksummedSummary,
  type MemoryRange,
  type StoreSummary,
  type StoreTransfer,
} from './store.js'

/** Maximum bytes per call. With fewer, calls take a larger share of the time of cached reads: a tenth with 1 MiB. */
const PIECE_BYTES = 8 * 1024 * 1024

/** Node's default thread pool size. */
const CALLS_AT_A_TIME = 4

/** Maximum wait of `idle`, in milliseconds. */
const REST_MS = 10

/** This machine's clock. It gets no notification of events, so `idle` returns early and often. */
const wallClock: Clock = {
  now: () => Math.round(performance.now() * 1e6),
  idle: (untilNs) => {
    const leftMs = (untilNs - performance.now() * 1e6) / 1e6
    return new Promise((done) => (leftMs < 1 ? setImmediate(done) : setTimeout(done, Math.min(leftMs, REST_MS))))
  },
}

/** A part of a transfer for one system call, with its bytes in memory. */
export interface Piece {
  readonly offsetBytes: number
  readonly memoryBytes: number
  readonly bytes: Uint8Array
}

/** A system call, one of a few at a time. */
export interface Call {
  /** Aligned buffer for O_DIRECT into memory that is not aligned; allocated when one is needed. */
  aligned?: Uint8Array
}

/** A file open for reading, for example FileHandle of node:fs/promises, which takes no signal. */
export interface ReadableFile {
  read(
    into: Uint8Array,
    at: number,
    lengthBytes: number,
    offsetBytes: number,
    signal?: AbortSignalLike,
  ): Promise<{ bytesRead: number }>
  /**
   * Reads, and computes checksums on the way. Resolves with the number of bytes read: fewer only if the file ends.
   * @returns undefined, and reads nothing, if it cannot access this memory
   */
  readChecksummed?(into: Uint8Array, offsetBytes: number, checksums: ReadChecksums): Promise<number> | undefined
  /** Closes the file after the calls in progress. */
  close(): Promise<void>
}

/** A file open for reading and writing. */
export interface OpenFile extends ReadableFile {
  write(from: Uint8Array, at: number, lengthBytes: number, offsetBytes: number): Promise<{ bytesWritten: number }>
  sync(): Promise<void>
}

/** Access parameters of a file. */
export interface FileShape {
  readonly sizeBytes: number
  readonly blockBytes: number
  /** Required alignment of memory addresses; 1 for none. */
  readonly memoryAlignBytes: number
}

/** An open file as a read-only store. */
export class FileBlocks implements BlockStore {
  readonly name: string
  readonly sizeBytes: number
  readonly blockBytes: number
  readonly capacityBytes: number
  readonly saturationBytes = CALLS_AT_A_TIME * PIECE_BYTES
  readonly optimalReadBytes = PIECE_BYTES
  readonly dma = fileMemory
  readonly clock = wallClock
  readonly movesData = undefined
  readonly readChecksummed: BlockStore['readChecksummed']
  private readonly file: ReadableFile
  private readonly memoryAlignBytes: number
  private readonly calls = new Turns(Array.from({ length: CALLS_AT_A_TIME }, (): Call => ({})))
  private isClosed = false

  constructor(path: string, file: ReadableFile, { sizeBytes, blockBytes, memoryAlignBytes }: FileShape) {
    this.name = path
    this.file = file
    this.sizeBytes = sizeBytes
    this.blockBytes = blockBytes
    this.memoryAlignBytes = memoryAlignBytes
    this.capacityBytes = Math.ceil(sizeBytes / blockBytes) * blockBytes
    if (file.readChecksummed !== undefined) this.readChecksummed = (...call) => this.readAndSum(...call)
  }

  read(transfers: readonly StoreTransfer[], memory: DmaMemory, options?: ExecuteOptions): Promise<StoreSummary> {
    const sums = new RangeSums([])
    return this.move(transfers, memory, options, (piece, call) => this.readPiece(piece, call, sums, options?.signal))
  }

  locate(offsetBytes: number, lengthBytes: number): string {
    return `${this.name}  bytes ${offsetBytes} to ${offsetBytes + Math.max(lengthBytes, 1) - 1}`
  }

  async close(): Promise<void> {
    if (this.isClosed) return
    this.isClosed = true
    await this.file.close()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  /** Executes all transfers, piece by piece. @param movePiece returns its number of system calls. */
  protected async move(
    transfers: readonly StoreTransfer[],
    memory: DmaMemory,
    { signal }: ExecuteOptions = {},
    movePiece: (piece: Piece, call: Call) => Promise<number>,
  ): Promise<StoreSummary> {
    this.checkOpen()
    checkTransfers(this, transfers, memory)
    this.checkMemory(transfers, memory)
    const startNs = wallClock.now()
    let [bytes, commands] = [0, 0]
    await using moves = new Transfers(this.calls, signal)
    await moves.each(piecesOf(transfers, PIECE_BYTES), async ({ offsetBytes, lengthBytes, memoryBytes }, call) => {
      this.checkOpen()
      const calls = await movePiece(
        { offsetBytes, memoryBytes, bytes: bytesIn(memory, memoryBytes, lengthBytes) },
        call,
      )
      bytes += lengthBytes
      commands += calls
    })
    return { bytes, commands, startNs, endNs: wallClock.now() }
  }

  private async readAndSum(
    transfers: readonly StoreTransfer[],
    memory: DmaMemory,
    ranges: readonly MemoryRange[],
    options?: ExecuteOptions,
  ): Promise<ChecksummedSummary> {
    const sums = new RangeSums(ranges)
    const summary = await this.move(transfers, memory, options, (piece, call) =>
      this.readPiece(piece, call, sums, options?.signal),
    )
    return { ...summary, crc32s: sums.crc32s }
  }

  /**
   * Reads and computes checksums in one pass. Returns false, and reads nothing, if the file or the memory does not
   * allow it.
   */
  private async readSummed({ offsetBytes, memoryBytes, bytes }: Piece, sums: RangeSums): Promise<boolean> {
    if (this.memoryAlignBytes !== 1 && isUnaligned(bytes.buffer)) return false
    const there = Math.min(bytes.length, this.sizeBytes - offsetBytes)
    const part = sums.partOf(memoryBytes, there)
    try {
      const got = await this.file.readChecksummed?.(bytes, offsetBytes, part)
      if (got === undefined) return false
      if (got < there) throw this.endsAt(offsetBytes + got)
    } catch (cause) {
      // Invalid arguments are no fault of the file.
      if (cause instanceof TypeError || cause instanceof RangeError) throw cause
      throw this.failed(bytes.length, offsetBytes, cause)
    }
    bytes.fill(0, there)
    part.done()
    return true
  }

  private async readPiece(
    piece: Piece,
    call: Call,
    sums: RangeSums,
    signal: AbortSignalLike | undefined,
  ): Promise<number> {
    if (await this.readSummed(piece, sums)) return 1
    const { offsetBytes, bytes } = piece
    if (this.memoryAlignBytes === 1 || !isUnaligned(bytes.buffer)) return this.readInto(bytes, offsetBytes, signal)
    call.aligned ??= bytesIn(fileMemory.alloc(PIECE_BYTES), 0, PIECE_BYTES)
    const aligned = call.aligned.subarray(0, bytes.length)
    const calls = await this.readInto(aligned, offsetBytes, signal)
    bytes.set(aligned)
    return calls
  }

  private async readInto(bytes: Uint8Array, offsetBytes: number, signal: AbortSignalLike | undefined): Promise<number> {
    const there = Math.min(bytes.length, this.sizeBytes - offsetBytes)
    let calls = 0
    for (let done = 0; done < there; calls++) {
      const got = await this.readSome(bytes.subarray(done), offsetBytes + done, signal)
      if (got === 0) throw this.endsAt(offsetBytes + done)
      done += got
    }
    // Also clears bytes of data appended meanwhile.
    bytes.fill(0, there)
    return calls
  }

  private async readSome(into: Uint8Array, offsetBytes: number, signal: AbortSignalLike | undefined): Promise<number> {
    const lengthBytes = into.length
    try {
      return (await this.file.read(into, 0, lengthBytes, offsetBytes, signal)).bytesRead
    } catch (cause) {
      throwIfAborted(signal)
      throw this.failed(lengthBytes, offsetBytes, cause)
    }
  }

  private endsAt(endBytes: number): GpuNvmeError {
    const facts = [`it had ${this.sizeBytes} bytes when it was opened`]
    return readFailed(this.name, `it now ends at byte ${endBytes}`, { facts, next: NEXT_IF_CHANGED })
  }

  private failed(lengthBytes: number, offsetBytes: number, cause: unknown): GpuNvmeError {
    if (cause instanceof GpuNvmeError) return cause
    const what = `${lengthBytes} bytes from byte ${offsetBytes} cannot be read (${systemCode(cause)})`
    return readFailed(this.name, what, { cause })
  }

  private checkOpen(): void {
    if (this.isClosed)
      throw readFailed(this.name, 'the store is closed', { next: 'close it after the last read or write' })
  }

  private checkMemory(transfers: readonly StoreTransfer[], memory: DmaMemory): void {
    const { view } = memory
    if (view === undefined) throw new TypeError(`${this.name}: expected host memory, got memory without a view`)
    // Pending device writes must not arrive later. Throws for freed memory.
    memory.forHost(0, memory.lengthBytes)
    if (isUnaligned(view.buffer)) return
    for (const { memoryBytes } of transfers) {
      if ((view.byteOffset + memoryBytes) % this.memoryAlignBytes === 0) continue
      throw new RangeError(
        `${this.name}: expected memory offsets that are multiples of ${this.memoryAlignBytes} bytes, as O_DIRECT requires, got ${memoryBytes}`,
      )
    }
  }
}

/** Returns the system's name of an error: 'EIO'. */
export function systemCode(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? String(error)
}
