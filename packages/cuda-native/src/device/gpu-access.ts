import type { DmaMemory } from '@gpunvme/nvme-spec/transport'
import { sessionOf, type Cuda } from '../cuda/cuda.js'
import type { HostRegistration } from '../cuda/memory.js'

/** Unit of registrations: the host's page. */
const PAGE_BYTES = 4096n

/** Makes host memory and registers accessible to a GPU, until `end`. */
export class GpuAccess {
  readonly #cuda: Cuda
  readonly #registrations: HostRegistration[] = []

  constructor(cuda: Cuda) {
    this.#cuda = cuda
  }

  /**
   * Returns the GPU's address of memory. Memory that the GPU can already access is not registered again.
   * @param kind whether the driver maps it as a controller's registers.
   * @throws CudaCallError, or CudaRegistrationError for registers, if the driver refuses.
   */
  reach(address: bigint, lengthBytes: number, kind: 'memory' | 'registers'): bigint {
    const { addon, handle } = sessionOf(this.#cuda)
    const found = addon.reachable(handle, address, lengthBytes)
    if (found !== 0n) return found
    const first = address - (address % PAGE_BYTES)
    const end = ((address + BigInt(lengthBytes) + PAGE_BYTES - 1n) / PAGE_BYTES) * PAGE_BYTES
    const bytes = Number(end - first)
    const made = kind === 'memory' ? this.#cuda.register(first, bytes) : this.#cuda.registerIo(first, bytes)
    this.#registrations.push(made)
    return made.gpuPointer + (address - first)
  }

  /** Returns the GPU's address of a transport's memory; undefined if neither CPU nor GPU has one. @throws as `reach` */
  memory({ gpuPointer, view, lengthBytes }: DmaMemory): bigint | undefined {
    if (gpuPointer !== undefined) return gpuPointer
    if (view === undefined) return undefined
    return this.reach(sessionOf(this.#cuda).addon.addressOf(view), lengthBytes, 'memory')
  }

  /** Ends the access that `reach` gave. Call it before the memory is unmapped, after all kernels that use it have ended. */
  end(): void {
    while (this.#registrations.length > 0) this.#registrations.pop()!.unregister()
  }
}
