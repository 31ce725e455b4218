import type { DmaAllocator } from '@gpunvme/nvme-spec/transport'
import { flag, number, optional, record, bytes, type Field } from '../options.js'
import { HostMemory } from '../memory/host-memory.js'
import type { SimulationClock } from '../time/clock.js'
import { SimulatedCopyEngine } from './copy-engine.js'
import { GpuLink, type GpuLinkStatistics } from './gpu-link.js'
import { SimulatedGpuMemory } from './gpu-memory.js'

/** Options of a simulated host's GPU. */
export interface GpuOptions {
  /** Maximum memory that may be allocated at a time. */
  readonly vramBytes: number
  /**
   * Rate of its PCIe link, shared by copies from the host and writes of drives. `payloadLimit` of
   * `@gpunvme/nvme-spec/pcie` returns the maximum of a link. Default: Infinity.
   */
  readonly linkBytesPerSecond?: number
  /** Whether drives may write into its memory: tier 2. Default: true. */
  readonly dmaToVram?: boolean
  /** If false, copies take their time and move nothing, as with `unverifiableMedia`. Default: true. */
  readonly movesData?: boolean
}

/** The option `gpu` of a host. */
export const gpuField: Field = record<GpuOptions>({
  vramBytes: bytes(0),
  linkBytesPerSecond: optional(number((rate) => rate >= 1, '1 byte a second or more, or Infinity')),
  dmaToVram: optional(flag),
  movesData: optional(flag),
})

/** First device address of GPU memory: above all host memory. */
export const FIRST_GPU_IOVA = 2 ** 46

/** A GPU in virtual time: memory that drives can access, one copy engine, and kernels of a given duration. */
export class SimulatedGpu {
  /** Copies from host memory in the order of the calls, in pieces that alternate with writes of drives. */
  readonly copies: SimulatedCopyEngine
  /** @internal */
  readonly memory: HostMemory
  /** @internal */
  readonly link: GpuLink
  /** @internal */
  readonly dmaToVram: boolean
  private readonly clock: SimulationClock
  private computedNs = 0

  /** @internal */
  constructor(options: GpuOptions, clock: SimulationClock) {
    const { vramBytes, linkBytesPerSecond = Infinity, dmaToVram = true, movesData = true } = options
    this.clock = clock
    this.dmaToVram = dmaToVram
    this.link = new GpuLink(linkBytesPerSecond)
    this.memory = new HostMemory({
      limitBytes: vramBytes,
      fragmented: false,
      seed: 0,
      firstIova: FIRST_GPU_IOVA,
      name: 'simulated GPU memory',
      option: 'host: new SimulatedHost({ gpu: { vramBytes } })',
    })
    const alloc = (lengthBytes: number) => this.alloc(lengthBytes)
    this.copies = new SimulatedCopyEngine({ clock, link: this.link, alloc, movesData })
  }

  /** Traffic of its link so far; a new copy on each access. */
  get statistics(): GpuLinkStatistics {
    return this.link.statistics
  }

  /**
   * Keeps its processors busy for `durationNs`, one call after the other like kernels of one stream. Resolves at the
   * end.
   */
  async compute(durationNs: number): Promise<void> {
    if (!(durationNs >= 0 && durationNs <= 1e15)) {
      throw new RangeError(`compute: expected 0 to 1e15 nanoseconds, got ${durationNs}`)
    }
    this.computedNs = Math.max(this.computedNs, this.clock.now()) + durationNs
    // Rounded up: the clock counts whole nanoseconds.
    const endNs = Math.ceil(this.computedNs)
    while (this.clock.now() < endNs) await this.clock.idle(endNs)
  }

  /** Allocates GPU memory, for `where: 'gpu'` of the host's allocator. @throws RangeError if none is left. @internal */
  alloc(lengthBytes: number, request?: Parameters<DmaAllocator['alloc']>[1]): SimulatedGpuMemory {
    return new SimulatedGpuMemory(this.memory.alloc(lengthBytes, { ...request, where: 'host' }))
  }
}
