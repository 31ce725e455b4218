import { sessionOf, type Cuda } from '../cuda/cuda.js'
import type { HostRegistration } from '../cuda/memory.js'

/** Unit of registrations: the host's page. */
const PAGE_BYTES = 4096n

/** Pages that are registered, and the number of uses. */
interface Registered {
  readonly registration: HostRegistration
  uses: number
}

/** The GPU's address of memory, and the registrations that make it accessible. */
export interface Reached {
  readonly gpuPointer: bigint
  readonly uses: readonly Registered[]
}

/**
 * Host memory and registers that are registered for a GPU. Several users can share pages, which stay registered until the last
 * one ends its use.
 */
export class Registrations {
  readonly #cuda: Cuda
  readonly #registered = new Set<Registered>()

  constructor(cuda: Cuda) {
    this.#cuda = cuda
  }

  /**
   * Makes memory accessible until `end`. Memory that the GPU can access by other means is used as it is; its owner keeps it.
   * @param kind whether the driver maps it as a controller's registers.
   * @throws CudaCallError, or CudaRegistrationError for registers, if the driver refuses.
   */
  reach(address: bigint, lengthBytes: number, kind: 'memory' | 'registers'): Reached {
    const { addon, handle } = sessionOf(this.#cuda)
    const first = address - (address % PAGE_BYTES)
    const end = ((address + BigInt(lengthBytes) + PAGE_BYTES - 1n) / PAGE_BYTES) * PAGE_BYTES
    const found = addon.reachable(handle, address, lengthBytes)
    const uses = found === 0n ? [this.#register(first, Number(end - first), kind)] : this.#within(first, end)
    for (const each of uses) each.uses++
    const gpuPointer = found === 0n ? uses[0]!.registration.gpuPointer + (address - first) : found
    return { gpuPointer, uses }
  }

  /** Ends a use. Call it once, before the memory is unmapped and after all kernels that use it have ended. */
  end({ uses }: Reached): void {
    for (const each of uses) {
      if (--each.uses > 0) continue
      this.#registered.delete(each)
      each.registration.unregister()
    }
  }

  #register(first: bigint, lengthBytes: number, kind: 'memory' | 'registers'): Registered {
    const cuda = this.#cuda
    const registration = kind === 'memory' ? cuda.register(first, lengthBytes) : cuda.registerIo(first, lengthBytes)
    const made = { registration, uses: 0 }
    this.#registered.add(made)
    return made
  }

  /** Registrations that share pages with a range. */
  #within(first: bigint, end: bigint): Registered[] {
    return [...this.#registered].filter(
      ({ registration: { address, lengthBytes } }) => address < end && first < address + BigInt(lengthBytes),
    )
  }
}
