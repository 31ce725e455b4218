import { GpuNvmeError } from '@gpunvme/nvme-spec/error'
import type { AbortSignalLike, Clock, DmaMemory, ExecuteOptions } from '@gpunvme/nvme-spec/transport'
import { readFailed } from '../formats/file-source.js'
import { throwIfAborted } from '../throw-if-aborted.js'
import { fileMemory, isUnaligned } from './file-store-memory.js'
import { bytesIn } from './memory-bytes.js'
import { checkTransfers, type BlockStore, type StoreSummary, type StoreTransfer } from './store.js'

/** Maximum bytes per system call. With 1 MiB, the calls took a tenth of the time of cached reads. */
const PIECE_BYTES = 4 * 1024 * 1024

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
  readonly bytes: Uint8Array
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
  readonly busyBytes = CALLS_AT_A_TIME * PIECE_BYTES
  readonly pieceBytes = PIECE_BYTES
  readonly dma = fileMemory
  readonly clock = wallClock
  readonly movesData = undefined
  private readonly file: ReadableFile
  private readonly memoryAlignBytes: number
  private readonly calls = new Turns(CALLS_AT_A_TIME)
  /** Aligned buffers for O_DIRECT into memory that is not, at most one for each call at a time. */
  private readonly buffers: Uint8Array[] = []
  private isClosed = false

  constructor(path: string, file: ReadableFile, { sizeBytes, blockBytes, memoryAlignBytes }: FileShape) {
    this.name = path
    this.file = file
    this.sizeBytes = sizeBytes
    this.blockBytes = blockBytes
    this.memoryAlignBytes = memoryAlignBytes
    this.capacityBytes = Math.ceil(sizeBytes / blockBytes) * blockBytes
  }

  read(transfers: readonly StoreTransfer[], memory: DmaMemory, options?: ExecuteOptions): Promise<StoreSummary> {
    return this.move(transfers, memory, options, (piece) => this.readPiece(piece, options?.signal))
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
    movePiece: (piece: Piece) => Promise<number>,
  ): Promise<StoreSummary> {
    this.checkOpen()
    checkTransfers(this, transfers, memory)
    this.checkMemory(transfers, memory)
    const startNs = wallClock.now()
    const pieces = piecesOf(transfers, memory)
    let commands = 0
    const lane = async () => {
      // The first error stops all lanes.
      for (const piece of pieces) {
        await this.calls.take()
        try {
          throwIfAborted(signal)
          this.checkOpen()
          const calls = await movePiece(piece)
          commands += calls
        } finally {
          this.calls.give()
        }
      }
    }
    // Waits for all lanes even if one fails: nothing may touch the memory after the return.
    for (const ended of await Promise.allSettled(Array.from({ length: CALLS_AT_A_TIME }, lane))) {
      if (ended.status === 'rejected') throw ended.reason
    }
    const bytes = transfers.reduce((sum, { lengthBytes }) => sum + lengthBytes, 0)
    return { bytes, commands, startNs, endNs: wallClock.now() }
  }

  private async readPiece({ offsetBytes, bytes }: Piece, signal: AbortSignalLike | undefined): Promise<number> {
    if (this.memoryAlignBytes === 1 || !isUnaligned(bytes.buffer)) return this.readInto(bytes, offsetBytes, signal)
    const buffer = this.buffers.pop() ?? bytesIn(fileMemory.alloc(PIECE_BYTES), 0, PIECE_BYTES)
    try {
      const aligned = buffer.subarray(0, bytes.length)
      const calls = await this.readInto(aligned, offsetBytes, signal)
      bytes.set(aligned)
      return calls
    } finally {
      this.buffers.push(buffer)
    }
  }

  private async readInto(bytes: Uint8Array, offsetBytes: number, signal: AbortSignalLike | undefined): Promise<number> {
    const there = Math.min(bytes.length, this.sizeBytes - offsetBytes)
    let calls = 0
    for (let done = 0; done < there; calls++) {
      const got = await this.readSome(bytes.subarray(done), offsetBytes + done, signal)
      if (got === 0) {
        const facts = [`it had ${this.sizeBytes} bytes when it was opened`]
        throw readFailed(this.name, `it now ends at byte ${offsetBytes + done}`, { facts })
      }
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
      if (cause instanceof GpuNvmeError) throw cause
      throwIfAborted(signal)
      const what = `${lengthBytes} bytes from byte ${offsetBytes} cannot be read (${systemCode(cause)})`
      throw readFailed(this.name, what, { cause })
    }
  }

  private checkOpen(): void {
    if (this.isClosed) throw readFailed(this.name, 'the store is closed')
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

function* piecesOf(transfers: readonly StoreTransfer[], memory: DmaMemory): Generator<Piece> {
  for (const { offsetBytes, lengthBytes, memoryBytes } of transfers) {
    for (let at = 0; at < lengthBytes; at += PIECE_BYTES) {
      const bytes = bytesIn(memory, memoryBytes + at, Math.min(PIECE_BYTES, lengthBytes - at))
      yield { offsetBytes: offsetBytes + at, bytes }
    }
  }
}

/** Returns the system's name of an error: 'EIO'. */
export function systemCode(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? String(error)
}

/** Limits concurrency, in order of arrival. */
class Turns {
  private free: number
  private readonly waiting: (() => void)[] = []

  constructor(free: number) {
    this.free = free
  }

  async take(): Promise<void> {
    if (this.free === 0) return new Promise((taken) => this.waiting.push(taken))
    this.free--
  }

  give(): void {
    const next = this.waiting.shift()
    if (next === undefined) this.free++
    else next()
  }
}
