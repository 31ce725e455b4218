import type { ObservedRates } from './replan.js'

/** The drive reads at another rate than the plan says. */
export interface RateDrift extends ObservedRates {
  /** How many times longer than planned reads take; below 1 when they are faster. */
  readonly ratio: number
}

/** How far from the plan the drive may be, and over how many layers that is looked at. */
export interface DriftBand {
  /** Ratios from 1 / (1 + band) to 1 + band are as planned; 0.2 when not given. */
  readonly band?: number
  /** Layers read; 8 when not given. */
  readonly windowReads?: number
}

/** Compares the rate of reads with the one that was planned, over a window: one slow layer is no throttled drive. */
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

  /** What the window holds; undefined until it is full. */
  get observed(): ObservedRates | undefined {
    if (this.reads.length < this.windowReads) return undefined
    let [bytes, ns] = [0, 0]
    for (const read of this.reads) {
      bytes += read.bytes
      ns += read.ns
    }
    return { readNsPerByte: ns / bytes }
  }

  /** Counts a layer that was read. Reports once each time that the band is left. */
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
