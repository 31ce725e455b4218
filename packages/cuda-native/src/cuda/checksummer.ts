import type { ChecksummedMemory, Checksummer } from '@gpunvme/nvme-spec/transport'
import { checkOptions, timeout } from '../arguments.js'
import { chunksOf, throwIfAborted } from '../checksum-arguments.js'
import type { Cuda } from './cuda.js'
import type { PinnedMemory } from './memory.js'
import { loadPackageKernels } from './package-kernels.js'
import { DEFAULT_TIMEOUT_NS } from './session.js'
import type { CudaStream } from './stream.js'

/** How many chunks' checksums come back from one launch: 64 KiB of memory, that is there from the beginning. */
const CHUNKS_A_LAUNCH = 16_384

/** How many threads work on a chunk: cuda/kernels.cu. */
const THREADS = 256

/** How checksums are computed on a GPU. */
export interface CudaChecksummerOptions {
  /** For each launch, of at most 16,384 chunks; 30 s when not given. */
  readonly timeoutNs?: number
}

/**
 * Checksums by a GPU, of memory on that GPU: the bytes stay there, and four for each chunk come back. Launches are done
 * one after the other on a stream of their own, beside copies and engines. `close` it before its GPU.
 */
export class CudaChecksummer implements Checksummer {
  readonly name = 'cuda'
  readonly #cuda: Cuda
  readonly #stream: CudaStream
  readonly #results: PinnedMemory
  readonly #timeoutNs: number
  /** The end of the calls before. */
  #last: Promise<unknown> = Promise.resolve()

  /** Use `cudaChecksummer`. @param chunks in a launch, at most. */
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
   * As `Checksummer.checksum`. An abort is seen between two launches.
   * @throws TypeError also for memory that is not on a GPU; CudaTimeoutError, after which the GPU may still be reading
   *   the memory: keep it until the GPU is closed; CudaCallError.
   */
  checksum(...call: Parameters<Checksummer['checksum']>): Promise<void> {
    const done = this.#last.then(() => this.#checksum(...call))
    // Whoever called hears of a failure; those behind it go on.
    this.#last = done.catch(() => undefined)
    return done
  }

  /** Ends its stream, and gives back what it works with. @throws TypeError the second time, and while it has work. */
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
    if (gpuPointer === undefined) throw new TypeError('memory: expected memory on a GPU, got memory that is not')
    const chunks = chunksOf(memory, offsetBytes, lengthBytes, chunkBytes, into)
    const most = this.#results.lengthBytes / Uint32Array.BYTES_PER_ELEMENT
    for (let first = 0; first < chunks; first += most) {
      throwIfAborted(signal)
      const count = Math.min(most, chunks - first)
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
 * Checksums by a GPU, for what was read into its memory. Its kernels are loaded where they are not.
 * @throws CudaCallError where there is no memory left, or the kernels are not for this GPU; TypeError, RangeError for
 *   wrong options.
 */
export function cudaChecksummer(cuda: Cuda, options: CudaChecksummerOptions = {}): CudaChecksummer {
  checkOptions('cudaChecksummer', options, { timeoutNs: timeout })
  return new CudaChecksummer(cuda, options)
}
