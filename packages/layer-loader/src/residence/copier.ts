import type { Clock, CopyEngine, DeviceMemory, DmaMemory } from '@gpunvme/nvme-spec/transport'
import type { LinkTimesCounter } from './link-times.js'

/** Copies to the GPU, timed: an engine makes them one after the other. */
export class Copier {
  readonly engine: CopyEngine
  private readonly clock: Clock
  private readonly times: LinkTimesCounter
  private lastEndNs = -Infinity

  constructor(engine: CopyEngine, clock: Clock, times: LinkTimesCounter) {
    this.engine = engine
    this.clock = clock
    this.times = times
  }

  async copy(from: DmaMemory, to: DeviceMemory, lengthBytes: number): Promise<void> {
    const askedNs = this.clock.now()
    await this.engine.copy(from, 0, to, 0, lengthBytes)
    const endNs = this.clock.now()
    this.times.add('copy', { startNs: Math.min(endNs, Math.max(askedNs, this.lastEndNs)), endNs })
    this.lastEndNs = endNs
  }
}
