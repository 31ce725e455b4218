import type { ObservedRates } from './replan.js'

/** Difference between the drive's rate and the plan. */
export interface RateDrift extends ObservedRates {
  /** Observed divided by planned time of reads; below 1 if they are faster. */
  readonly ratio: number
}

/** Tolerance of the rate, and the number of layers over which it is computed. */
export interface DriftBand {
  /** Ratios from 1 / (1 + band) to 1 + band are tolerated. Default: 0.2. */
  readonly band?: number
  /** Number of layers in the window. Default: 8. */
  readonly windowReads?: number
}

/** Compares the rate of reads with the planned one over a window: a single slow layer does not indicate throttling. */
export class RateWatch {
  private readonly plannedNsPerByte: number
  private readonly band: number
  private readonly windowReads: number
  private readonly report: (drift: RateDrift) => void
  private reads: { readonly bytes: number; readonly ns: number }[] = []
  private isOutside = false

  constructor(
    plannedNsPerByte: number,
    { band = 0.2, windowReads = 8 }: DriftBand,
    report: (drift: RateDrift) => void,
  ) {
    this.plannedNsPerByte = plannedNsPerByte
    this.band = band
    this.windowReads = windowReads
    this.report = report
  }

  /** Observed rate in the window; undefined until it is full. */
  get observed(): ObservedRates | undefined {
    if (this.reads.length < this.windowReads) return undefined
    let [bytes, ns] = [0, 0]
    for (const read of this.reads) {
      bytes += read.bytes
      ns += read.ns
    }
    return { readNsPerByte: ns / bytes }
  }

  /** Adds a read layer. Reports once each time that the tolerance is exceeded. */
  add(bytes: number, ns: number): void {
    if (bytes === 0) return
    this.reads = [...this.reads.slice(1 - this.windowReads), { bytes, ns }]
    const { observed } = this
    if (observed === undefined) return
    const ratio = observed.readNsPerByte / this.plannedNsPerByte
    const isOutside = ratio > 1 + this.band || ratio < 1 / (1 + this.band)
    if (isOutside && !this.isOutside) this.report({ ...observed, ratio })
    this.isOutside = isOutside
  }
}
