import type { BenchCell, BenchLink, BenchSource } from '../report/bench-results.js'
import { latenciesOf, percentile } from '../report/latencies.js'
import { bytesPerSecond, commandsPerSecond, counted, cpuSecondsPerGigabyte, ratio } from '../report/statistics.js'
import { median } from './outliers.js'

/** Summary of the repeats of a cell, for readers of the JSON. */
export interface CellSummary {
  readonly meanBytesPerSecond: number
  /** Half of the 95 % confidence interval. */
  readonly marginBytesPerSecond?: number
  readonly medianBytesPerSecond: number
  readonly commandsPerSecond: number
  /** Fraction of the link's payload limit. */
  readonly shareOfLimit?: number
  readonly cpuSecondsPerGigabyte?: number
  /** Latencies of the units named by a source's `latencyOf`. */
  readonly latency?: {
    readonly p50Ns: number
    readonly p99Ns: number
    readonly p999Ns: number
    readonly maxNs: number
  }
  /** Rate divided by that of the baseline at the same setting in the same run. */
  readonly ratio?: { readonly to: string; readonly times: number; readonly margin?: number }
}

/**
 * @param peers cells of the same setting; the first baseline is the reference.
 * @returns undefined without valid repeats.
 */
export function summaryOf(
  cell: BenchCell,
  peers: readonly BenchCell[],
  sources: readonly BenchSource[],
  link: BenchLink | undefined,
): CellSummary | undefined {
  const rate = bytesPerSecond(cell.repeats)
  const commands = commandsPerSecond(cell.repeats)
  if (cell.problem !== undefined || rate === undefined || commands === undefined) return undefined
  const cpu = cpuSecondsPerGigabyte(cell.repeats)
  const latencies = latenciesOf(cell.repeats)
  const baseline = peers.find((peer) => isBaseline(peer, sources) && peer.problem === undefined)
  const baselineRate = baseline === cell || baseline === undefined ? undefined : bytesPerSecond(baseline.repeats)
  const times = baselineRate === undefined ? undefined : ratio(rate, baselineRate)
  return {
    meanBytesPerSecond: rate.mean,
    ...(rate.marginOfError !== undefined && { marginBytesPerSecond: rate.marginOfError }),
    medianBytesPerSecond: median(counted(cell.repeats).map(({ bytes, seconds }) => bytes / seconds)),
    commandsPerSecond: commands.mean,
    ...(link !== undefined && { shareOfLimit: rate.mean / link.payloadLimitBytesPerSecond }),
    ...(cpu !== undefined && { cpuSecondsPerGigabyte: cpu.mean }),
    ...(latencies !== undefined && {
      latency: {
        p50Ns: percentile(latencies, 0.5),
        p99Ns: percentile(latencies, 0.99),
        p999Ns: percentile(latencies, 0.999),
        maxNs: latencies.maxNs,
      },
    }),
    ...(times !== undefined && {
      ratio: {
        to: baseline!.source,
        times: times.mean,
        ...(times.marginOfError !== undefined && { margin: times.marginOfError }),
      },
    }),
  }
}

function isBaseline({ source }: BenchCell, sources: readonly BenchSource[]): boolean {
  return sources.some(({ name, kind }) => name === source && kind === 'baseline')
}
