import type { ThermalThrottle } from '@gpunvme/nvme-spec/transport'

/**
 * How hot a drive is, and what that makes of its speed: a state that follows the bytes it moves. Beside it a factor
 * can be forced for some time, as a fault does.
 */
export class Heat {
  private readonly thermal: ThermalThrottle | undefined
  private heatBytes = 0
  private heatAtNs = 0
  private isTooHot = false
  private forcedFactor = 1
  private forcedUntilNs = 0

  constructor(thermal: ThermalThrottle | undefined) {
    this.thermal = thermal
  }

  /** Counts bytes whose transfer begins at `atNs`. */
  add(atNs: number, lengthBytes: number): void {
    if (this.thermal === undefined) return
    this.cool(atNs, this.thermal)
    const { limitBytes } = this.thermal
    // A controller that slows down holds its temperature: the limit is as hot as it gets.
    this.heatBytes = Math.min(limitBytes, this.heatBytes + lengthBytes)
    if (this.heatBytes === limitBytes) this.isTooHot = true
  }

  /** How many times longer than usual what begins at `nowNs` takes; 1 when nothing is wrong. */
  slowdown(nowNs: number): number {
    const forced = nowNs < this.forcedUntilNs ? this.forcedFactor : 1
    if (this.thermal === undefined) return forced
    this.cool(nowNs, this.thermal)
    return this.isTooHot ? Math.max(forced, this.thermal.factor) : forced
  }

  /** 0 when cold, 1 at the heat where it slows down. */
  share(nowNs: number): number {
    if (this.thermal === undefined) return 0
    this.cool(nowNs, this.thermal)
    return this.heatBytes / this.thermal.limitBytes
  }

  /** Makes everything `factor` times slower from now until `untilNs`; a later call takes the place of an earlier one. */
  force(factor: number, untilNs: number): void {
    if (!(factor >= 1 && factor < Infinity))
      throw new RangeError(`throttle: expected a factor of 1 or more, got ${factor}`)
    this.forcedFactor = factor
    this.forcedUntilNs = untilNs
  }

  private cool(nowNs: number, { coolingBytesPerSecond, recoveredBytes }: ThermalThrottle): void {
    // Transfers that wait for their turn begin later than what asks meanwhile.
    if (nowNs <= this.heatAtNs) return
    const gone = ((nowNs - this.heatAtNs) * coolingBytesPerSecond) / 1e9
    this.heatBytes = Math.max(0, this.heatBytes - gone)
    this.heatAtNs = nowNs
    if (this.heatBytes <= recoveredBytes) this.isTooHot = false
  }
}
