import type { Random } from '@gpunvme/nvme-spec/faults'
import type { DriveTiming, MediaWork } from './drive-timing.js'
import { Heat } from './heat.js'
import { drawLatency, type LatencyNs } from './latency.js'
import { Units } from './units.js'

const NO_TIME: LatencyNs = [0, 0, 0, 0, 0]

/**
 * The drive behind the link, as three stations: its processor, parallel media units, and data paths. A drive that is
 * too hot, or throttled by a fault, takes longer by a factor at each of them.
 */
export class DriveModel {
  private readonly timing: DriveTiming
  private readonly random: Random
  private readonly units: Units
  private readonly heat: Heat
  private processorFreeNs = 0
  private readPathFreeNs = 0
  private writePathFreeNs = 0

  constructor(timing: DriveTiming, random: Random) {
    this.timing = timing
    this.random = random
    this.units = new Units(timing.mediaUnits)
    this.heat = new Heat(timing.thermal)
  }

  /** Returns when the processor is done with a command that arrived at `nowNs`. */
  process(nowNs: number): number {
    const lengthNs = this.timing.commandNs * this.heat.slowdown(nowNs)
    return (this.processorFreeNs = Math.max(nowNs, this.processorFreeNs) + lengthNs)
  }

  /** Returns when controller and media are done with a command: the first free media unit takes it. */
  access(nowNs: number, work: MediaWork): number {
    const slowdown = this.heat.slowdown(nowNs)
    const { controllerNs = NO_TIME } = this.timing
    const readyNs = nowNs + drawLatency(controllerNs, this.random) * slowdown
    const latency = this.latencyOf(work)
    // Without latency there is nothing to draw and no unit to wait for.
    if (latency[4] === 0) return readyNs
    return this.units.serve(readyNs, drawLatency(latency, this.random) * slowdown)
  }

  /** Returns when the data path has delivered a read's last byte to the link, or taken a write's from it. */
  transfer(nowNs: number, operation: 'read' | 'write', lengthBytes: number): number {
    const { readBytesPerSecond, readSetupNs = 0, writeBytesPerSecond, writeSetupNs = 0 } = this.timing
    const isRead = operation === 'read'
    const beginNs = Math.max(nowNs, isRead ? this.readPathFreeNs : this.writePathFreeNs)
    const lengthNs = isRead
      ? readSetupNs + (lengthBytes / readBytesPerSecond) * 1e9
      : writeSetupNs + (lengthBytes / writeBytesPerSecond) * 1e9
    const endNs = beginNs + lengthNs * this.heat.slowdown(beginNs)
    this.heat.add(beginNs, lengthBytes)
    if (isRead) this.readPathFreeNs = endNs
    else this.writePathFreeNs = endNs
    return endNs
  }

  /**
   * Multiplies the duration of everything that begins before `untilNs` by `factor`; a later call replaces an earlier
   * one. No effect on a drive without costs.
   * @throws RangeError for a factor below 1.
   */
  throttle(factor: number, untilNs: number): void {
    this.heat.force(factor, untilNs)
  }

  /** Returns the slowdown factor of work that begins at `nowNs`: 1 for a drive that is neither hot nor throttled. */
  slowdown(nowNs: number): number {
    return this.heat.slowdown(nowNs)
  }

  /**
   * Returns the heat as a share of the limit: 0 is cold, at 1 it slows down. Always 0 for a drive without a thermal
   * model.
   */
  heatShare(nowNs: number): number {
    return this.heat.share(nowNs)
  }

  private latencyOf(work: MediaWork): LatencyNs {
    const { readNs, writeNs, flushNs, deallocateNs = writeNs } = this.timing
    switch (work) {
      case 'read':
        return readNs
      case 'write':
        return writeNs
      case 'flush':
        return flushNs
      case 'deallocate':
        return deallocateNs
      case 'none':
        return NO_TIME
    }
  }
}
