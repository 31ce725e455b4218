import type { ThermalThrottle } from '@gpunvme/nvme-spec/transport'

/**
 * The heat of a drive, which follows the bytes that it moves, and the resulting slowdown. A fault can also force a
 * factor for some time.
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

  /** Counts bytes of a transfer that begins at `atNs`. */
  add(atNs: number, lengthBytes: number): void {
    if (this.thermal === undefined) return
    this.cool(atNs, this.thermal)
    const { limitBytes } = this.thermal
    // A controller that slows down holds its temperature: heat never exceeds the limit.
    this.heatBytes = Math.min(limitBytes, this.heatBytes + lengthBytes)
    if (this.heatBytes === limitBytes) this.isTooHot = true
  }

  /** Returns the slowdown factor of work that begins at `nowNs`; 1 if there is none. */
  slowdown(nowNs: number): number {
    const forced = nowNs < this.forcedUntilNs ? this.forcedFactor : 1
    if (this.thermal === undefined) return forced
    this.cool(nowNs, this.thermal)
    return this.isTooHot ? Math.max(forced, this.thermal.factor) : forced
  }

  /** Returns the heat: 0 when cold, 1 at the limit where it slows down. */
  share(nowNs: number): number {
    if (this.thermal === undefined) return 0
    this.cool(nowNs, this.thermal)
    return this.heatBytes / this.thermal.limitBytes
  }

  /** Slows everything down by `factor` from now until `untilNs`; a later call replaces an earlier one. */
  force(factor: number, untilNs: number): void {
    if (!(factor >= 1 && factor < Infinity))
      throw new RangeError(`throttle: expected a factor of 1 or more, got ${factor}`)
    this.forcedFactor = factor
    this.forcedUntilNs = untilNs
  }

  private cool(nowNs: number, { coolingBytesPerSecond, recoveredBytes }: ThermalThrottle): void {
    // Queued transfers begin later than queries made meanwhile.
    if (nowNs <= this.heatAtNs) return
    const gone = ((nowNs - this.heatAtNs) * coolingBytesPerSecond) / 1e9
    this.heatBytes = Math.max(0, this.heatBytes - gone)
    this.heatAtNs = nowNs
    if (this.heatBytes <= recoveredBytes) this.isTooHot = false
  }
}
