import type { BenchLatency } from '../report/bench-results.js'

/** So many buckets to each power of two: an edge is at most 4.4 % above what it stands for. */
const PER_OCTAVE = 16
/** Up to 2^40 ns, 18 minutes. */
const OCTAVES = 40

/** Counts how long things took, in buckets that grow with what they hold. Adding allocates nothing. */
export class LatencyHistogram {
  private readonly counts = new Float64Array(OCTAVES * PER_OCTAVE + 1)
  private leastNs = Infinity
  private mostNs = 0
  private samples = 0

  add(ns: number, count = 1): void {
    const bucket = ns <= 1 ? 0 : Math.ceil(Math.log2(ns) * PER_OCTAVE)
    this.counts[Math.min(bucket, this.counts.length - 1)]! += count
    this.leastNs = Math.min(this.leastNs, ns)
    this.mostNs = Math.max(this.mostNs, ns)
    this.samples += count
  }

  clear(): void {
    this.counts.fill(0)
    this.leastNs = Infinity
    this.mostNs = 0
    this.samples = 0
  }

  /** What was added, for results; undefined where nothing was. */
  latency(): BenchLatency | undefined {
    if (this.samples === 0) return undefined
    const { leastNs, mostNs } = this
    const buckets = [...this.counts].flatMap((count, bucket): [number, number][] =>
      count === 0 ? [] : [[upperEdge(bucket), count]],
    )
    return { leastNs, mostNs, buckets }
  }
}

function upperEdge(bucket: number): number {
  return Number((2 ** (bucket / PER_OCTAVE)).toPrecision(6))
}
