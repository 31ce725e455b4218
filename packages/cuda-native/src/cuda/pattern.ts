import type { Cuda } from './cuda.js'
import type { GpuMemory, PinnedMemory } from './memory.js'
import { loadPackageKernels } from './package-kernels.js'
import type { CudaStream } from './stream.js'

/** As many as keep a GPU busy; kernels go on from there in strides. */
const BLOCKS = 256
const THREADS = 256

/** What was found where a pattern was expected. */
export interface PatternCheck {
  readonly wrongBytes: number
  /** From the start of the memory; undefined where every byte is right. */
  readonly firstWrongByte: number | undefined
}

/**
 * Fills GPU memory with data that says where it belongs, and looks for it: every byte, by kernels on that GPU. Which
 * word is where: cuda/pattern.cuh. `close` it before its GPU.
 */
export class CudaPattern {
  readonly #cuda: Cuda
  readonly #stream: CudaStream
  readonly #verdict: PinnedMemory

  /** @throws CudaCallError where the kernels are not for this GPU, or there is no memory left. */
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

  /** Writes the pattern of that seed, a whole number below 2^64. @throws CudaTimeoutError, CudaCallError */
  async fill(memory: GpuMemory, seed: bigint): Promise<void> {
    const args = [memory.gpuPointer, BigInt(memory.lengthBytes), seed, 0n]
    this.#cuda.launch('gpunvme_pattern_fill', BLOCKS, THREADS, args, this.#stream)
    await this.#stream.finished()
  }

  /** Compares every byte with the pattern of that seed. One at a time. @throws CudaTimeoutError, CudaCallError */
  async verify(memory: GpuMemory, seed: bigint): Promise<PatternCheck> {
    const verdict = new BigUint64Array(this.#verdict.buffer)
    verdict.set([0n, 0xffff_ffff_ffff_ffffn])
    const args = [memory.gpuPointer, BigInt(memory.lengthBytes), seed, 0n, this.#verdict.gpuPointer]
    this.#cuda.launch('gpunvme_pattern_verify', BLOCKS, THREADS, args, this.#stream)
    await this.#stream.finished()
    const wrongBytes = Number(verdict[0]!)
    return { wrongBytes, firstWrongByte: wrongBytes === 0 ? undefined : Number(verdict[1]!) }
  }

  /** @throws TypeError the second time, and while it has work. */
  close(): void {
    this.#stream.close()
    this.#verdict.free()
  }
}
