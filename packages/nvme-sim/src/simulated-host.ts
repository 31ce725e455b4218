import type { DmaAllocator } from '@gpunvme/nvme-spec/transport'
import { gpuField, SimulatedGpu, type GpuOptions } from './gpu/simulated-gpu.js'
import { HostMemory } from './memory/host-memory.js'
import type { ReachableMemory } from './memory/reachable.js'
import { SystemMemory } from './memory/system-memory.js'
import { bytes, checkOptions, flag, optional, seedField, type Fields } from './options.js'
import type { SimulationClock } from './time/clock.js'
import { SharedClock } from './time/shared-clock.js'

/** What a host is like that several drives are attached to; every part has a default. */
export interface SimulatedHostOptions {
  /** Most memory that may be allocated at a time; 4 GiB when not given. */
  readonly hostMemoryBytes?: number
  /** Scatters the pages of DMA memory that was not asked to be contiguous. */
  readonly fragmented?: boolean
  /** Decides how they are scattered. 0 to 2^32 - 1; 1 when not given. */
  readonly seed?: number
  /** A GPU with memory and a link of its own; none when not given. */
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
 * A machine for several simulated drives: each reaches all of its memory, and one virtual clock goes for all of them,
 * which moves on when every driver that has something to do has done it. `simulate({ host })` attaches a drive.
 */
export class SimulatedHost {
  readonly clock: SimulationClock = new SharedClock()
  /** Present where one was asked for. */
  readonly gpu?: SimulatedGpu
  /** @internal */
  readonly memory: DmaAllocator & ReachableMemory

  /** @throws RangeError or TypeError, with its name, for an option that cannot be. */
  constructor(options: SimulatedHostOptions = {}) {
    checkOptions('SimulatedHost options', options, fields)
    const memory = hostMemory(options)
    if (options.gpu) this.gpu = new SimulatedGpu(options.gpu, this.clock)
    this.memory = this.gpu ? new SystemMemory(memory, this.gpu) : memory
  }
}

/** The memory of a host, whether it has one drive or several. */
export function hostMemory({ hostMemoryBytes, fragmented = false, seed = 1 }: SimulatedHostOptions): HostMemory {
  return new HostMemory({ limitBytes: hostMemoryBytes ?? DEFAULT_MEMORY_BYTES, fragmented, seed })
}
