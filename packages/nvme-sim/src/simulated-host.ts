import type { DmaAllocator } from '@gpunvme/nvme-spec/transport'
import { gpuField, SimulatedGpu, type GpuOptions } from './gpu/simulated-gpu.js'
import { HostMemory } from './memory/host-memory.js'
import type { ReachableMemory } from './memory/reachable.js'
import { SystemMemory } from './memory/system-memory.js'
import { bytes, checkOptions, flag, optional, seedField, type Fields } from './options.js'
import type { SimulationClock } from './time/clock.js'
import { SharedClock } from './time/shared-clock.js'

/** Options of a host for several drives. All are optional. */
export interface SimulatedHostOptions {
  /** Maximum memory allocated at a time. Default: 4 GiB. */
  readonly hostMemoryBytes?: number
  /** Scatters the pages of DMA memory that need not be contiguous. */
  readonly fragmented?: boolean
  /** Seed of the scattering, 0 to 2^32 - 1. Default: 1. */
  readonly seed?: number
  /** A GPU with its own memory and link. Default: none. */
  readonly gpu?: GpuOptions
}

const fields: Fields<SimulatedHostOptions> = {
  hostMemoryBytes: optional(bytes(0)),
  fragmented: optional(flag),
  seed: optional(seedField),
  gpu: optional(gpuField),
}

const DEFAULT_MEMORY_BYTES = 4 * 1024 ** 3

/**
 * A machine for several simulated drives: each can access all of its memory. All share one virtual clock, which
 * advances when every driver with something to do has done it. `simulate({ host })` attaches a drive.
 */
export class SimulatedHost {
  readonly clock: SimulationClock = new SharedClock()
  /** Present if requested. */
  readonly gpu?: SimulatedGpu
  /** @internal */
  readonly memory: DmaAllocator & ReachableMemory

  /** @throws RangeError or TypeError, with its name, for an invalid option. */
  constructor(options: SimulatedHostOptions = {}) {
    checkOptions('SimulatedHost options', options, fields)
    const memory = hostMemory(options)
    if (options.gpu) this.gpu = new SimulatedGpu(options.gpu, this.clock)
    this.memory = this.gpu ? new SystemMemory(memory, this.gpu) : memory
  }
}

/** The memory of a host, for one drive or several. */
export function hostMemory({ hostMemoryBytes, fragmented = false, seed = 1 }: SimulatedHostOptions): HostMemory {
  return new HostMemory({ limitBytes: hostMemoryBytes ?? DEFAULT_MEMORY_BYTES, fragmented, seed })
}
