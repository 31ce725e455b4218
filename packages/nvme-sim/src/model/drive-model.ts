import type { Random } from './random.js'

/** A distribution of latencies by its quantiles at 0, 50, 90, 99 and 100 %, in nanoseconds; straight lines between. */
export type LatencyNs = readonly [min: number, p50: number, p90: number, p99: number, max: number]

const QUANTILES = [0, 0.5, 0.9, 0.99, 1] as const

/** What a command asks of the media. */
export type MediaWork = 'read' | 'write' | 'flush' | 'deallocate' | 'none'

/** What a drive's inside costs. All zero, with rates of Infinity, is a drive that costs nothing. */
export interface DriveTiming {
  /** The controller's own work, one command after the other. Its inverse limits commands per second. */
  readonly commandNs: number
  /** From the start of an Admin command to its completion. */
  readonly adminNs: number
  /** Until a command's first byte can be read from the media, or the cache has taken the command's data. */
  readonly readNs: LatencyNs
  readonly writeNs: LatencyNs
  readonly flushNs: LatencyNs
  /** Commands that the media works on at a time. */
  readonly mediaUnits: number
  /** What the drive sustains, whatever its link can carry. */
  readonly readBytesPerSecond: number
  readonly writeBytesPerSecond: number
}

/** The drive behind the link, as three stations: its processor, its media units in parallel, its data path. */
export class DriveModel {
  private readonly timing: DriveTiming
  private readonly random: Random
  private readonly unitFreeNs: Float64Array
  private processorFreeNs = 0
  private readPathFreeNs = 0
  private writePathFreeNs = 0

  constructor(timing: DriveTiming, random: Random) {
    this.timing = timing
    this.random = random
    this.unitFreeNs = new Float64Array(timing.mediaUnits)
  }

  /** When the processor has dealt with a command that arrived at `nowNs`. */
  process(nowNs: number): number {
    return (this.processorFreeNs = Math.max(nowNs, this.processorFreeNs) + this.timing.commandNs)
  }

  /** When the media has done its part of a command: the first unit that is free takes it. */
  access(nowNs: number, kind: MediaWork): number {
    if (kind === 'none') return nowNs
    const { readNs, writeNs, flushNs } = this.timing
    const latency = kind === 'read' ? readNs : kind === 'write' ? writeNs : flushNs
    // Without spread or latency there is nothing to draw and nothing to wait for.
    if (latency[4] === 0) return nowNs
    const units = this.unitFreeNs
    let first = 0
    for (let unit = 1; unit < units.length; unit++) if (units[unit]! < units[first]!) first = unit
    return (units[first] = Math.max(nowNs, units[first]!) + this.draw(latency))
  }

  /** When the data path has delivered a read's last byte to the link, or taken a write's from it. */
  transfer(nowNs: number, kind: 'read' | 'write', lengthBytes: number): number {
    if (kind === 'read') {
      const lengthNs = (lengthBytes / this.timing.readBytesPerSecond) * 1e9
      return (this.readPathFreeNs = Math.max(nowNs, this.readPathFreeNs) + lengthNs)
    }
    const lengthNs = (lengthBytes / this.timing.writeBytesPerSecond) * 1e9
    return (this.writePathFreeNs = Math.max(nowNs, this.writePathFreeNs) + lengthNs)
  }

  private draw(latency: LatencyNs): number {
    const quantile = this.random()
    let i = 1
    while (quantile > QUANTILES[i]!) i++
    const [from, to] = [QUANTILES[i - 1]!, QUANTILES[i]!]
    const share = (quantile - from) / (to - from)
    return latency[i - 1]! + share * (latency[i]! - latency[i - 1]!)
  }
}
