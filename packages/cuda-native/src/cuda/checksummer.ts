import type { ChecksummedMemory, Checksummer } from '@gpunvme/nvme-spec/transport'
import { checkOptions, timeout } from '../arguments.js'
import { chunksOf, throwIfAborted } from '../checksum-arguments.js'
import type { Cuda } from './cuda.js'
import type { PinnedMemory } from './memory.js'
import { loadPackageKernels } from './package-kernels.js'
import { DEFAULT_TIMEOUT_NS } from './session.js'
import type { CudaStream } from './stream.js'

/** Maximum chunks per launch. Their checksums take 64 KiB, allocated in advance. */
const CHUNKS_A_LAUNCH = 16_384

/** Threads per chunk, see cuda/kernels.cu. */
const THREADS = 256

/** Options of `cudaChecksummer`. */
export interface CudaChecksummerOptions {
  /** Time limit for each launch of up to 16,384 chunks. Default: 30 s. */
  readonly timeoutNs?: number
}

/**
 * Computes checksums of memory on a GPU by that GPU; four bytes per chunk are returned to the host. Launches run one after
 * another on a stream of their own, concurrently with copies and engines. `close` it before its GPU.
 */
export class CudaChecksummer implements Checksummer {
  readonly name = 'cuda'
  readonly #cuda: Cuda
  readonly #stream: CudaStream
  readonly #results: PinnedMemory
  readonly #timeoutNs: number
  /** Settles when all earlier calls have ended. */
  #last: Promise<unknown> = Promise.resolve()

  /** Use `cudaChecksummer`. @param chunks maximum per launch. */
  constructor(cuda: Cuda, { timeoutNs = DEFAULT_TIMEOUT_NS }: CudaChecksummerOptions, chunks = CHUNKS_A_LAUNCH) {
    loadPackageKernels(cuda)
    this.#cuda = cuda
    this.#timeoutNs = timeoutNs
    this.#stream = cuda.stream()
    try {
      this.#results = cuda.allocPinned(chunks * Uint32Array.BYTES_PER_ELEMENT)
    } catch (error) {
      this.#stream.close()
      throw error
    }
  }

  /**
   * Like `Checksummer.checksum`. An abort takes effect between two launches.
   * @throws TypeError for memory that is not on a GPU; CudaTimeoutError, after which the GPU may still read the memory: keep it
   *   until the GPU is closed; CudaCallError.
   */
  checksum(...call: Parameters<Checksummer['checksum']>): Promise<void> {
    const done = this.#last.then(() => this.#checksum(...call))
    // A failure rejects only its own call; the next calls continue.
    this.#last = done.catch(() => undefined)
    return done
  }

  /** Frees its stream and memory. @throws TypeError if already closed, and while it has work. */
  close(): void {
    this.#stream.close()
    this.#results.free()
  }

  async #checksum(
    memory: ChecksummedMemory,
    offsetBytes: number,
    lengthBytes: number,
    chunkBytes: number,
    into: Uint32Array,
    { signal }: Parameters<Checksummer['checksum']>[5] = {},
  ): Promise<void> {
    const { gpuPointer } = memory
    if (gpuPointer === undefined) throw new TypeError('memory: expected memory on a GPU, got host memory')
    const chunks = chunksOf(memory, offsetBytes, lengthBytes, chunkBytes, into)
    const max = this.#results.lengthBytes / Uint32Array.BYTES_PER_ELEMENT
    for (let first = 0; first < chunks; first += max) {
      throwIfAborted(signal)
      const count = Math.min(max, chunks - first)
      const at = first * chunkBytes
      const bytes = Math.min(count * chunkBytes, lengthBytes - at)
      const data = gpuPointer + BigInt(offsetBytes + at)
      const nothingToCompare = [0n, 0n, 0n]
      const args = [data, BigInt(bytes), BigInt(chunkBytes), this.#results.gpuPointer, ...nothingToCompare]
      this.#cuda.launch('gpunvme_checksum', count, THREADS, args, this.#stream)
      await this.#stream.finished(this.#timeoutNs)
      into.set(new Uint32Array(this.#results.buffer, 0, count), first)
    }
  }
}

/**
 * Creates a checksummer for memory on a GPU. Loads the kernels of this package if necessary.
 * @throws CudaCallError if the GPU is not supported or memory is exhausted; TypeError, RangeError for invalid options.
 */
export function cudaChecksummer(cuda: Cuda, options: CudaChecksummerOptions = {}): CudaChecksummer {
  checkOptions('cudaChecksummer', options, { timeoutNs: timeout })
  return new CudaChecksummer(cuda, options)
}
