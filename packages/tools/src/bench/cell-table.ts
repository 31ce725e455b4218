import type { BenchCell, BenchLink, BenchSource } from '../report/bench-results.js'
import { formatEstimate, formatShare } from '../report/quantities.js'
import { counted } from '../report/statistics.js'
import { formatRow, formatTitles, wrap, type Column } from '../terminal/table.js'
import { formatBytes, formatDuration, formatRate, plural } from '../terminal/units.js'
import { wordOf, type Shape } from './shape.js'
import { summaryOf, type CellSummary } from './summary.js'

const COLUMNS: readonly Column[] = [
  { title: 'SOURCE', width: 10 },
  { title: 'RATE, ± 95 %', width: 17, align: 'right' },
  { title: 'LIMIT', width: 5, align: 'right' },
  { title: 'kIOPS', width: 5, align: 'right' },
  { title: 'P50', width: 7, align: 'right' },
  { title: 'P99', width: 7, align: 'right' },
  { title: 's/GB', width: 5, align: 'right' },
  { title: 'TIMES', width: 5, align: 'right' },
]

/** The minimum width of a terminal. */
const WIDTH = 80
/** Below the remarks on a source. */
const INDENT = ' '.repeat(12)

/** Prints the results of a benchmark by setting, for a terminal of 80 columns. */
export class CellTable {
  private readonly sources: readonly BenchSource[]
  private readonly link: BenchLink | undefined

  constructor(sources: readonly BenchSource[], link: BenchLink | undefined) {
    this.sources = sources
    this.link = link
  }

  get titles(): string {
    return formatTitles(COLUMNS)
  }

  /** Returns a line with the setting, and one line per source, more if there are remarks. */
  rows(shape: Shape, cells: readonly BenchCell[]): string[] {
    return [describeShape(shape), ...cells.flatMap((cell) => this.row(cell, cells))]
  }

  private row(cell: BenchCell, cells: readonly BenchCell[]): string[] {
    const { sources, link } = this
    const summary = summaryOf(cell, cells, sources, link)
    if (summary === undefined) return problemLines(cell)
    const source = sources.find(({ name }) => name === cell.source)
    return [formatRow(COLUMNS, cellsOf(cell, summary, source)), ...outlierLines(cell, summary)]
  }
}

/** 'randread 4 KiB, depth 32, 2 jobs'. */
export function describeShape(shape: Shape): string {
  const { blockBytes, depth, jobs } = shape
  return `${wordOf(shape)} ${formatBytes(blockBytes)}, depth ${depth}, ${plural(jobs, 'job')}`
}

/** Explains the columns. */
export function legend(sources: readonly BenchSource[], link: BenchLink | undefined): string[] {
  const baseline = sources.find(({ kind, missing }) => kind === 'baseline' && missing === undefined)
  const ofPlans = sources.filter(({ latencyOf, missing }) => latencyOf === 'plan' && missing === undefined)
  return [
    link === undefined
      ? 'LIMIT: the link is unknown, so rates have no denominator.'
      : `LIMIT: share of ${formatRate(link.payloadLimitBytesPerSecond, 1e9)}, the payload limit of Gen${link.gen} x${link.width} at MPS ${link.mps}.`,
    ...(baseline === undefined ? [] : [`TIMES: rate divided by that of ${baseline.name} in the same run.`]),
    ...ofPlans.map(({ name }) => `P50, P99: ${name} measures plans, not commands; see --json.`),
  ].flatMap((line) => wrap(line, WIDTH, '  '))
}

function cellsOf(cell: BenchCell, summary: CellSummary, source: BenchSource | undefined): string[] {
  const { meanBytesPerSecond: mean, marginBytesPerSecond: marginOfError, latency, ratio } = summary
  const ofCommands = source?.latencyOf !== 'plan'
  const duration = (ns: number | undefined) => (ns === undefined || !ofCommands ? '-' : formatDuration(ns))
  return [
    cell.source,
    formatEstimate('rate', { mean, marginOfError, count: cell.repeats.length }),
    summary.shareOfLimit === undefined ? '-' : formatShare(summary.shareOfLimit),
    short(summary.commandsPerSecond / 1000),
    duration(latency?.p50Ns),
    duration(latency?.p99Ns),
    summary.cpuSecondsPerGigabyte === undefined ? '-' : short(summary.cpuSecondsPerGigabyte),
    ratio === undefined ? '-' : short(ratio.times),
  ]
}

/** Three digits in at most five characters: '0.031', '3.47', '26.5', '852'. */
function short(value: number): string {
  if (value >= 100) return value.toFixed(0)
  return value.toFixed(value >= 10 ? 1 : value >= 1 ? 2 : 3)
}

function problemLines({ source, problem, repeats }: BenchCell): string[] {
  const kind = problem?.kind === 'refused' ? 'not run' : 'REJECTED'
  const reason = problem?.reason ?? `none of ${plural(repeats.length, 'repeat')} is valid`
  const next = problem?.next === undefined ? '' : `; try ${problem.next}`
  return wrap(`${source.padEnd(10)}  ${kind}: ${reason}${next}`, WIDTH, INDENT)
}

function outlierLines({ repeats }: BenchCell, { medianBytesPerSecond }: CellSummary): string[] {
  const marked = counted(repeats).flatMap(({ outlier, turn }) =>
    outlier === undefined ? [] : [`turn ${turn ?? '?'} (${outlier})`],
  )
  if (marked.length === 0) return []
  const text = `median ${formatRate(medianBytesPerSecond, 1e9)}; outliers, included in the mean: ${marked.join(', ')}`
  return wrap(text, WIDTH - INDENT.length, '').map((line) => `${INDENT}${line}`)
}
