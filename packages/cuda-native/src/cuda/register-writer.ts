import type { Cuda } from './cuda.js'
import type { HostRegistration } from './memory.js'
import { loadPackageKernels } from './package-kernels.js'
import type { CudaStream } from './stream.js'

/** Registers that are mapped into this process, such as `bar.window` of a transport. */
export interface RegisterWindow {
  readonly address: bigint
  readonly lengthBytes: number
  /** Whether they are memory, as a simulator's are: the driver refuses memory as registers, and registers as memory. */
  readonly isMemory?: boolean
}

/**
 * Stores to a controller's registers from the GPU, 32 bits at a time, as a doorbell is rung. It never reads registers: on
 * some machines that takes the controller off the bus. The effect of a store is the caller's responsibility.
 */
export class CudaRegisterWriter {
  readonly #cuda: Cuda
  readonly #window: HostRegistration
  readonly #stream: CudaStream

  /** @throws CudaRegistrationError if the driver refuses to register the window; CudaCallError */
  constructor(cuda: Cuda, { address, lengthBytes, isMemory = false }: RegisterWindow) {
    loadPackageKernels(cuda)
    this.#cuda = cuda
    this.#window = isMemory ? cuda.register(address, lengthBytes) : cuda.registerIo(address, lengthBytes)
    try {
      this.#stream = cuda.stream()
    } catch (error) {
      this.#window.unregister()
      throw error
    }
  }

  /**
   * Stores a value and waits for the end of the kernel. The write is posted, and arrives some time later.
   * @throws RangeError for an offset outside the window or not a multiple of 4; CudaTimeoutError, CudaCallError
   */
  async store32(offset: number, value: number): Promise<void> {
    const { gpuPointer, lengthBytes } = this.#window
    if (!Number.isInteger(offset) || offset < 0 || offset % 4 !== 0 || offset + 4 > lengthBytes)
      throw new RangeError(`offset: expected a multiple of 4 below ${lengthBytes}, got ${offset}`)
    if (!Number.isInteger(value) || value < 0 || value > 0xffff_ffff)
      throw new RangeError(`value: expected an unsigned 32-bit integer, got ${value}`)
    const args = [gpuPointer + BigInt(offset), BigInt(value)]
    this.#cuda.launch('gpunvme_store32', 1, 1, args, this.#stream)
    await this.#stream.finished()
  }

  /** Ends the GPU's access. @throws TypeError if already closed, and while a store is in progress. */
  close(): void {
    this.#stream.close()
    this.#window.unregister()
  }
}
