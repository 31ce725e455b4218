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

const PAGE_BYTES = 4096

/**
 * Stores to a controller's registers from the GPU, 32 bits at a time, as a doorbell is rung. It never reads registers: on
 * some machines that takes the controller off the bus. Only pages to which it stores are registered with CUDA. The effect of a
 * store is the caller's responsibility.
 */
export class CudaRegisterWriter {
  readonly #cuda: Cuda
  readonly #window: RegisterWindow
  /** By offset in the window. */
  readonly #pages = new Map<number, HostRegistration>()
  readonly #stream: CudaStream

  /** @throws CudaCallError */
  constructor(cuda: Cuda, window: RegisterWindow) {
    loadPackageKernels(cuda)
    this.#cuda = cuda
    this.#window = window
    this.#stream = cuda.stream()
  }

  /**
   * Stores a value and waits for the end of the kernel. The write is posted, and arrives some time later.
   * @throws RangeError for an offset outside the window or not a multiple of 4; CudaRegistrationError if the driver refuses to
   *   register the page; CudaTimeoutError, CudaCallError
   */
  async store32(offset: number, value: number): Promise<void> {
    const { lengthBytes } = this.#window
    if (!Number.isInteger(offset) || offset < 0 || offset % 4 !== 0 || offset + 4 > lengthBytes)
      throw new RangeError(`offset: expected a multiple of 4 below ${lengthBytes}, got ${offset}`)
    if (!Number.isInteger(value) || value < 0 || value > 0xffff_ffff)
      throw new RangeError(`value: expected an unsigned 32-bit integer, got ${value}`)
    const { gpuPointer } = this.#page(offset - (offset % PAGE_BYTES))
    const args = [gpuPointer + BigInt(offset % PAGE_BYTES), BigInt(value)]
    this.#cuda.launch('gpunvme_store32', 1, 1, args, this.#stream)
    await this.#stream.finished()
  }

  /** Ends the GPU's access. @throws TypeError if already closed, and while a store is in progress. */
  close(): void {
    this.#stream.close()
    for (const page of this.#pages.values()) page.unregister()
    this.#pages.clear()
  }

  #page(start: number): HostRegistration {
    const registered = this.#pages.get(start)
    if (registered !== undefined) return registered
    const { address, lengthBytes, isMemory = false } = this.#window
    const at = address + BigInt(start)
    const bytes = Math.min(PAGE_BYTES, lengthBytes - start)
    const page = isMemory ? this.#cuda.register(at, bytes) : this.#cuda.registerIo(at, bytes)
    this.#pages.set(start, page)
    return page
  }
}
