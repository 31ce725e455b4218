/** Percentiles of many values; each at most 6 % above the true one. Undefined without values. */
export interface Percentiles {
  readonly p50: number | undefined
  readonly p90: number | undefined
  readonly p99: number | undefined
  readonly max: number | undefined
}

/** Buckets per doubling: 2 ^ (1/12) is 1.06. */
const STEPS = 12

/** Counts positive numbers of any size by magnitude, in a few hundred counters. */
export class Histogram {
  private readonly buckets: number[] = []
  private count = 0
  private max = 0

  add(value: number): void {
    const bucket = Math.max(0, Math.ceil(Math.log2(Math.max(value, 1)) * STEPS))
    this.buckets[bucket] = (this.buckets[bucket] ?? 0) + 1
    this.count++
    this.max = Math.max(this.max, value)
  }

  get percentiles(): Percentiles {
    if (this.count === 0) return { p50: undefined, p90: undefined, p99: undefined, max: undefined }
    return { p50: this.below(0.5), p90: this.below(0.9), p99: this.below(0.99), max: this.max }
  }

  /** Returns the value that this share of the values does not exceed. */
  private below(share: number): number {
    let left = Math.ceil(share * this.count)
    for (const [bucket, count = 0] of this.buckets.entries()) {
      left -= count
      if (left <= 0) return Math.min(this.max, 2 ** (bucket / STEPS))
    }
    return this.max
  }
}
