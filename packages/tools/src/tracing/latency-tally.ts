/** Summary of durations in nanoseconds. */
export interface LatencySummary {
  readonly count: number
  readonly meanNs: number
  readonly p50Ns: number
  readonly p99Ns: number
  readonly maxNs: number
}

const DIGITS = 3

/** Collects any number of durations in constant memory; percentiles are exact to three digits. */
export class LatencyTally {
  private readonly counts = new Map<number, number>()
  private count = 0
  private sumNs = 0
  private maxNs = 0

  add(ns: number): void {
    const rounded = Number(ns.toPrecision(DIGITS))
    this.counts.set(rounded, (this.counts.get(rounded) ?? 0) + 1)
    this.count++
    this.sumNs += ns
    this.maxNs = Math.max(this.maxNs, ns)
  }

  summary(): LatencySummary {
    const { count, sumNs, maxNs } = this
    const sorted = [...this.counts].sort(([a], [b]) => a - b)
    const percentile = (share: number) => {
      let left = Math.ceil(count * share)
      for (const [ns, times] of sorted) {
        left -= times
        if (left <= 0) return Math.min(ns, maxNs)
      }
      return maxNs
    }
    return { count, meanNs: count === 0 ? 0 : sumNs / count, p50Ns: percentile(0.5), p99Ns: percentile(0.99), maxNs }
  }
}
