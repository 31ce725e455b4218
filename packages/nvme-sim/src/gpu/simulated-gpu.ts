import type { DmaAllocator } from '@gpunvme/nvme-spec/transport'
import { flag, number, optional, record, bytes, type Field } from '../options.js'
import { HostMemory } from '../memory/host-memory.js'
import type { SimulationClock } from '../time/clock.js'
import { SimulatedCopyEngine } from './copy-engine.js'
import { GpuLink, type GpuLinkStatistics } from './gpu-link.js'
import { SimulatedGpuMemory } from './gpu-memory.js'

/** The GPU of a simulated host. */
export interface GpuOptions {
  /** Most memory that may be allocated on it at a time. */
  readonly vramBytes: number
  /**
   * What its PCIe link brings to it, copies from the host and writes of drives together. `payloadLimit` of
   * `@gpunvme/nvme-spec/pcie` says what a link can carry at best. Infinity when not given.
   */
  readonly linkBytesPerSecond?: number
  /** Whether drives may write into its memory: tier 2. True when not given. */
  readonly dmaToVram?: boolean
  /** False where copies take their time and move nothing, as with `unverifiableMedia`; true when not given. */
  readonly movesData?: boolean
}

/** What a host takes for a GPU. */
export const gpuField: Field = record<GpuOptions>({
  vramBytes: bytes(0),
  linkBytesPerSecond: optional(number((rate) => rate >= 1, '1 byte a second or more, or Infinity')),
  dmaToVram: optional(flag),
  movesData: optional(flag),
})

/** Where GPU memory begins for devices: above all memory of the host. */
export const FIRST_GPU_IOVA = 2 ** 46

/** A GPU in virtual time: memory that drives reach too, one copy engine, kernels that take as long as they are told. */
export class SimulatedGpu {
  /** Copies from host memory, in the order of the calls, in pieces between which what drives write gets its turn. */
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

  /** What its link has carried so far; a fresh copy at each look. */
  get statistics(): GpuLinkStatistics {
    return this.link.statistics
  }

  /** Keeps its processors busy for `durationNs`, one call after the other as kernels of one stream; resolves at the end. */
  async compute(durationNs: number): Promise<void> {
    if (!(durationNs >= 0 && durationNs <= 1e15)) {
      throw new RangeError(`compute: expected 0 to 1e15 nanoseconds, got ${durationNs}`)
    }
    this.computedNs = Math.max(this.computedNs, this.clock.now()) + durationNs
    // The clock counts whole nanoseconds: it never gets to a fraction of one.
    const endNs = Math.ceil(this.computedNs)
    while (this.clock.now() < endNs) await this.clock.idle(endNs)
  }

  /** Memory on it, as the host's allocator gives it for `where: 'gpu'`. @throws RangeError where none is left. @internal */
  alloc(lengthBytes: number, request?: Parameters<DmaAllocator['alloc']>[1]): SimulatedGpuMemory {
    return new SimulatedGpuMemory(this.memory.alloc(lengthBytes, { ...request, where: 'host' }))
  }
}
