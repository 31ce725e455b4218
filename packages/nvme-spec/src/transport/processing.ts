/** Processing of data that a read has delivered: copies to GPU memory, and checksums; also while a file is read. */
import type { AbortSignalLike } from './engine.js'
import type { DmaMemory } from './transport.js'

/** GPU memory, for the copy engine and kernels. */
export interface DeviceMemory {
  readonly lengthBytes: number
  /** Address of the first byte, as kernels use it. */
  readonly gpuPointer: bigint
  /** Frees the memory; no copy from or to it may be in flight. */
  free(): void
}

/** Second hop of tier 1: copies pinned host memory to GPU memory, concurrently with the next read. */
export interface CopyEngine {
  /** Allocates `lengthBytes` bytes of GPU memory. @throws if none is left. */
  alloc(lengthBytes: number): DeviceMemory
  /**
   * Copies `lengthBytes` bytes, from byte `fromBytes` of `from` to byte `toBytes` of `to`. Resolves when they have
   * arrived; free neither memory before that.
   */
  copy(from: DmaMemory, fromBytes: number, to: DeviceMemory, toBytes: number, lengthBytes: number): Promise<void>
}

/** Memory that a checksummer reads: through `view` on the host, at `gpuPointer` on a GPU. */
export type ChecksummedMemory = Pick<DmaMemory, 'lengthBytes' | 'view' | 'gpuPointer' | 'copyOut'>

/** Computes checksums of memory: on the calling thread, in native code, or on a GPU. All implementations agree. */
export interface Checksummer {
  /** Name for reports, such as 'zlib'. */
  readonly name: string
  /** True if it computes on the caller's thread: overlapping calls gain nothing and delay each other. */
  readonly blocks?: boolean
  /**
   * Computes the CRC-32/ISO-HDLC (zlib's `crc32`) of each chunk of `chunkBytes` in `lengthBytes` bytes from
   * `offsetBytes`, into the elements of `into` from the first. The last chunk may be shorter. Data written by a device
   * must have arrived (`DmaMemory.forHost`). Keep the memory until the promise settles; afterwards neither memory nor
   * `into` is accessed. Calls may overlap in time.
   * @throws RangeError if the range is outside the memory, and if `into` has fewer elements than there are chunks;
   *   TypeError for memory that it cannot access; the signal's reason, at the next point where it can stop.
   */
  checksum(
    memory: ChecksummedMemory,
    offsetBytes: number,
    lengthBytes: number,
    chunkBytes: number,
    into: Uint32Array,
    options?: { readonly signal?: AbortSignalLike },
  ): Promise<void>
}

/** Checksums to be computed of a read. */
export interface ReadChecksums {
  /** Length of a chunk; the last one may be shorter. */
  readonly chunkBytes: number
  /** Bytes of all chunks, from the first byte that is read. */
  readonly summedBytes: number
  /** Receives the CRC-32/ISO-HDLC of each chunk. */
  readonly into: Uint32Array
}

/** Reads files on other threads, and computes checksums of the bytes while they are in the processor's cache. */
export interface FileReader {
  /**
   * Reads `lengthBytes` bytes from byte `fileOffsetBytes` of an open file to byte `offsetBytes` of `view`. Resolves with the
   * number of bytes that were read: fewer only if the file ends. Keep the file open until then. Calls may overlap in time.
   * @returns undefined, and reads nothing, if other threads cannot access this memory: that of an ArrayBuffer can be transferred.
   * @throws RangeError or TypeError for invalid arguments. Rejects with an Error with Node's `code`, `errno` and `syscall`.
   */
  read(
    fd: number,
    fileOffsetBytes: number,
    view: DataView,
    offsetBytes: number,
    lengthBytes: number,
    checksums: ReadChecksums,
  ): Promise<number> | undefined
}
