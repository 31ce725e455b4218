import type { Cuda } from './cuda.js'
import type { GpuMemory, PinnedMemory } from './memory.js'
import { loadPackageKernels } from './package-kernels.js'
import type { CudaStream } from './stream.js'

/** Enough to keep a GPU busy; kernels process longer memory in strides. */
const BLOCKS = 256
const THREADS = 256

/** Result of comparing memory with a pattern. */
export interface PatternCheck {
  /** Number of bytes that differ from the pattern. */
  readonly wrongBytes: number
  /** Offset of the first of them; undefined if there are none. */
  readonly firstWrongByte: number | undefined
}

/**
 * Fills GPU memory with a pattern in which each word depends on its position, and verifies every byte, by kernels on that
 * GPU. cuda/pattern.cuh defines the pattern. `close` it before its GPU.
 */
export class CudaPattern {
  readonly #cuda: Cuda
  readonly #stream: CudaStream
  readonly #verdict: PinnedMemory

  /** @throws CudaCallError if the GPU is not supported or memory is exhausted. */
  constructor(cuda: Cuda) {
    loadPackageKernels(cuda)
    this.#cuda = cuda
    this.#stream = cuda.stream()
    try {
      this.#verdict = cuda.allocPinned(2 * BigUint64Array.BYTES_PER_ELEMENT)
    } catch (error) {
      this.#stream.close()
      throw error
    }
  }

  /** Writes the pattern of a seed below 2^64. @throws CudaTimeoutError, CudaCallError */
  async fill(memory: GpuMemory, seed: bigint): Promise<void> {
    const args = [memory.gpuPointer, BigInt(memory.lengthBytes), seed, 0n]
    this.#cuda.launch('gpunvme_pattern_fill', BLOCKS, THREADS, args, this.#stream)
    await this.#stream.finished()
  }

  /** Compares every byte with the pattern of a seed. Await each call before the next. @throws CudaTimeoutError, CudaCallError */
  async verify(memory: GpuMemory, seed: bigint): Promise<PatternCheck> {
    const verdict = new BigUint64Array(this.#verdict.buffer)
    verdict.set([0n, 0xffff_ffff_ffff_ffffn])
    const args = [memory.gpuPointer, BigInt(memory.lengthBytes), seed, 0n, this.#verdict.gpuPointer]
    this.#cuda.launch('gpunvme_pattern_verify', BLOCKS, THREADS, args, this.#stream)
    await this.#stream.finished()
    const wrongBytes = Number(verdict[0]!)
    return { wrongBytes, firstWrongByte: wrongBytes === 0 ? undefined : Number(verdict[1]!) }
  }

  /** Frees its stream and memory. @throws TypeError if already closed, and while it has work. */
  close(): void {
    this.#stream.close()
    this.#verdict.free()
  }
}
