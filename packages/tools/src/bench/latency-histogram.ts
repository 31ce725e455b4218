import type { BenchLatency } from '../report/bench-results.js'

/** Buckets per power of two: a bucket's upper edge is at most 4.4 % above its values. */
const PER_OCTAVE = 16
/** Up to 2^40 ns, 18 minutes. */
const OCTAVES = 40

/** Histogram of latencies with buckets proportional to their values. Adding allocates nothing. */
export class LatencyHistogram {
  private readonly counts = new Float64Array(OCTAVES * PER_OCTAVE + 1)
  private minNs = Infinity
  private maxNs = 0
  private samples = 0

  add(ns: number, count = 1): void {
    const bucket = ns <= 1 ? 0 : Math.ceil(Math.log2(ns) * PER_OCTAVE)
    this.counts[Math.min(bucket, this.counts.length - 1)]! += count
    this.minNs = Math.min(this.minNs, ns)
    this.maxNs = Math.max(this.maxNs, ns)
    this.samples += count
  }

  clear(): void {
    this.counts.fill(0)
    this.minNs = Infinity
    this.maxNs = 0
    this.samples = 0
  }

  /** Returns the recorded latencies; undefined if there are none. */
  latency(): BenchLatency | undefined {
    if (this.samples === 0) return undefined
    const { minNs, maxNs } = this
    const buckets = [...this.counts].flatMap((count, bucket): [number, number][] =>
      count === 0 ? [] : [[upperEdge(bucket), count]],
    )
    return { minNs, maxNs, buckets }
  }
}

function upperEdge(bucket: number): number {
  return Number((2 ** (bucket / PER_OCTAVE)).toPrecision(6))
}
