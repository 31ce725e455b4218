import type { DmaMemory } from '@gpunvme/nvme-spec/transport'
import { sessionOf, type Cuda } from '../cuda/cuda.js'
import type { Reached, Registrations } from './registrations.js'

/** Makes host memory and registers accessible to a GPU, until `end`. */
export class GpuAccess {
  readonly #cuda: Cuda
  readonly #registrations: Registrations
  readonly #reached: Reached[] = []

  constructor(cuda: Cuda, registrations: Registrations) {
    this.#cuda = cuda
    this.#registrations = registrations
  }

  /** Returns the GPU's address of memory. @throws as `Registrations.reach` */
  reach(address: bigint, lengthBytes: number, kind: 'memory' | 'registers'): bigint {
    const reached = this.#registrations.reach(address, lengthBytes, kind)
    this.#reached.push(reached)
    return reached.gpuPointer
  }

  /** Returns the GPU's address of a transport's memory; undefined if neither CPU nor GPU has one. @throws as `reach` */
  memory({ gpuPointer, view, lengthBytes }: DmaMemory): bigint | undefined {
    if (gpuPointer !== undefined) return gpuPointer
    if (view === undefined) return undefined
    return this.reach(sessionOf(this.#cuda).addon.addressOf(view), lengthBytes, 'memory')
  }

  /** Ends the access that `reach` gave. Call it before the memory is unmapped, after all kernels that use it have ended. */
  end(): void {
    while (this.#reached.length > 0) this.#registrations.end(this.#reached.pop()!)
  }
}
