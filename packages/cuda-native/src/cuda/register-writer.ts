import type { Cuda } from './cuda.js'
import type { HostRegistration } from './memory.js'
import { loadPackageKernels } from './package-kernels.js'
import type { CudaStream } from './stream.js'

/** Registers as they are mapped into this process: `Bar.window` of a transport has such. */
export interface RegisterWindow {
  readonly address: bigint
  readonly lengthBytes: number
  /** They are memory, a simulator's: the driver takes that as registers as little as registers as memory. */
  readonly isMemory?: boolean
}

/**
 * Lets the GPU write to a controller's registers, one store of 32 bits at a time, as it rings a doorbell. It never reads
 * there: on some machines that takes the controller off the bus. What a store does is the caller's to know.
 */
export class CudaRegisterWriter {
  readonly #cuda: Cuda
  readonly #window: HostRegistration
  readonly #stream: CudaStream

  /** @throws CudaRegistrationError where the driver does not register the window; CudaCallError */
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
   * Stores, and waits until the kernel has ended: the write is posted, and arrives some time after.
   * @throws RangeError outside of the window, or for what is no register's offset; CudaTimeoutError, CudaCallError
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

  /** The GPU reaches them no more. @throws TypeError the second time, and while a store is under way. */
  close(): void {
    this.#stream.close()
    this.#window.unregister()
  }
}
