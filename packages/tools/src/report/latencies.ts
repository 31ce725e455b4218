import type { BenchRepeat } from './bench-results.js'
import { counted } from './statistics.js'

/** Latencies of all repeats of a cell. */
export interface Latencies {
  readonly count: number
  readonly minNs: number
  readonly maxNs: number
  /** Upper edges with cumulative fractions, rising to 1. */
  readonly cumulative: readonly (readonly [upToNs: number, share: number])[]
}

/** Undefined without latencies. */
export function latenciesOf(repeats: readonly BenchRepeat[]): Latencies | undefined {
  const all = counted(repeats).flatMap(({ latency }) => latency ?? [])
  const counts = new Map<number, number>()
  for (const { buckets } of all)
    for (const [upToNs, count] of buckets) counts.set(upToNs, (counts.get(upToNs) ?? 0) + count)
  const total = [...counts.values()].reduce((sum, count) => sum + count, 0)
  if (total === 0) return undefined
  const maxNs = all.reduce((max, latency) => Math.max(max, latency.maxNs), 0)
  let sum = 0
  const cumulative = [...counts]
    .sort(([a], [b]) => a - b)
    .map(([upToNs, count]) => {
      sum += count
      return [Math.min(upToNs, maxNs), sum / total] as const
    })
  return {
    count: total,
    minNs: all.reduce((min, latency) => Math.min(min, latency.minNs), Infinity),
    maxNs,
    cumulative,
  }
}

/** Returns the value that this fraction of latencies does not exceed, as the upper edge of its bucket. */
export function percentile({ cumulative, maxNs }: Latencies, share: number): number {
  // Sums of fractions may be slightly below their exact value.
  return cumulative.find(([, reached]) => reached >= share - 1e-12)?.[0] ?? maxNs
}
