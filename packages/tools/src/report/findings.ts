import { formatBytes, plural } from '../terminal/units.js'
import type { BenchCell, BenchResults, BenchSource } from './bench-results.js'
import { latenciesOf, type Latencies } from './latencies.js'
import { bytesPerSecond, commandsPerSecond, counted, cpuSecondsPerGigabyte, type Estimate } from './statistics.js'

/** A measured cell with its summary. */
export interface Finding {
  readonly cell: BenchCell
  readonly source: BenchSource
  /** Index of its source, which determines colour and marker. */
  readonly series: number
  readonly rate: Estimate
  readonly iops: Estimate
  readonly cpu: Estimate | undefined
  readonly latencies: Latencies | undefined
  readonly outliers: number
}

/** All findings of one kind of work: 'Sequential reads'. */
export interface Workload {
  readonly title: string
  readonly rw: BenchCell['rw']
  readonly findings: readonly Finding[]
  /** The finding of the headline: the fastest engine at its best setting, which is also the setting of comparisons. */
  readonly best: Finding
}

/**
 * Excludes cells that were refused, failed, moved nothing, or have no valid repeat. In modelled time, estimates have no
 * margin of error: every run has the same repeats.
 */
export function findingsOf({ cells, sources, time }: BenchResults): Finding[] {
  const findings = measured(cells, sources)
  if (time !== 'modelled') return findings
  return findings.map((finding) => ({ ...finding, rate: exact(finding.rate), iops: exact(finding.iops) }))
}

function exact(estimate: Estimate): Estimate {
  return { ...estimate, marginOfError: undefined }
}

function measured(cells: readonly BenchCell[], sources: readonly BenchSource[]): Finding[] {
  return cells.flatMap((cell) => {
    const series = sources.findIndex(({ name }) => name === cell.source)
    const rate = bytesPerSecond(cell.repeats)
    const iops = commandsPerSecond(cell.repeats)
    if (cell.problem !== undefined || !isPositive(rate) || !isPositive(iops)) return []
    const cpu = cpuSecondsPerGigabyte(cell.repeats)
    const outliers = counted(cell.repeats).filter(({ outlier }) => outlier !== undefined).length
    return [{ cell, source: sources[series]!, series, rate, iops, cpu, latencies: latenciesOf(cell.repeats), outliers }]
  })
}

function isPositive(estimate: Estimate | undefined): estimate is Estimate {
  return estimate !== undefined && estimate.mean > 0
}

/** In the order of measurement. */
export function workloadsOf(findings: readonly Finding[]): Workload[] {
  const groups = new Map<string, Finding[]>()
  for (const finding of findings) {
    const title = workloadTitle(finding.cell)
    groups.set(title, [...(groups.get(title) ?? []), finding])
  }
  return [...groups].map(([title, group]) => ({ title, rw: group[0]!.cell.rw, findings: group, best: bestOf(group) }))
}

/** 'Sequential reads', 'Random writes of 4 jobs'. */
export function workloadTitle({ rw, pattern, jobs }: BenchCell): string {
  const work = { read: 'reads', write: 'writes', mixed: 'reads and writes' }[rw]
  return `${pattern === 'sequential' ? 'Sequential' : 'Random'} ${work}${jobs === 1 ? '' : ` of ${plural(jobs, 'job')}`}`
}

/** 'engine host', 'io_uring'. */
export function sourceName({ kind, name }: BenchSource): string {
  return kind === 'engine' ? `engine ${name}` : name
}

/** '128 KiB, queue depth 32'. */
export function formatSetting({ blockBytes, depth }: BenchCell): string {
  return `${formatBytes(blockBytes)}, queue depth ${depth}`
}

/**
 * Returns the fastest finding of an engine; without engines, the fastest of all. Among settings that are statistically
 * equal to the fastest, or within 1 % of it, it is the one with the fewest bytes in flight: the highest of many means
 * is high by chance.
 */
export function bestOf(findings: readonly Finding[]): Finding {
  const engines = findings.filter(({ source }) => source.kind === 'engine')
  const fastest = (engines.length > 0 ? engines : findings).reduce((best, one) =>
    one.rate.mean > best.rate.mean ? one : best,
  )
  const { mean, marginOfError = 0 } = fastest.rate
  const enough = mean - Math.max(marginOfError, mean * AS_FAST)
  return findings
    .filter(({ series, rate }) => series === fastest.series && rate.mean >= enough)
    .reduce((min, one) => (inFlightBytes(one.cell) < inFlightBytes(min.cell) ? one : min))
}

const AS_FAST = 0.01

function inFlightBytes({ blockBytes, depth, jobs }: BenchCell): number {
  return blockBytes * depth * jobs
}

export function sameSetting(a: BenchCell, b: BenchCell): boolean {
  return (
    a.rw === b.rw &&
    a.pattern === b.pattern &&
    a.blockBytes === b.blockBytes &&
    a.depth === b.depth &&
    a.jobs === b.jobs
  )
}

/** Returns the findings of all sources at the setting of `cell`. */
export function atSettingOf(findings: readonly Finding[], cell: BenchCell): Finding[] {
  return findings.filter((finding) => sameSetting(finding.cell, cell))
}

/** In ascending order, without duplicates. */
export function distinct(values: readonly number[]): number[] {
  return [...new Set(values)].sort((a, b) => a - b)
}
