import type { BenchCell, BenchLink, BenchResults, BenchSource } from '../report/bench-results.js'
import { formatEstimate, formatShare } from '../report/quantities.js'
import { counted } from '../report/statistics.js'
import { formatRow, formatTitles, wrap, type Column } from '../terminal/table.js'
import { formatBytes, formatDuration, formatRate, plural } from '../terminal/units.js'
import { wordOf, type Shape } from './shape.js'
import { summaryOf, type CellSummary } from './summary.js'

/** At most 76 columns wide. Modelled times have no error, and the CPU time of a simulator is not shown. */
function columnsOf(time: BenchResults['time'], hasBaseline: boolean): readonly Column[] {
  const isMeasured = time === 'wall'
  return [
    { title: 'SOURCE', width: 10 },
    isMeasured ? { title: 'RATE, ± 95 %', width: 20, align: 'right' } : { title: 'RATE', width: 9, align: 'right' },
    { title: 'LIMIT', width: 5, align: 'right' },
    { title: 'kIOPS', width: 5, align: 'right' },
    { title: 'P50', width: 7, align: 'right' },
    { title: 'P99', width: 7, align: 'right' },
    ...(isMeasured ? [{ title: 's/GB', width: 5, align: 'right' } as const] : []),
    ...(hasBaseline ? [{ title: 'TIMES', width: 5, align: 'right' } as const] : []),
  ]
}

/** Below the remarks on a source. */
const INDENT = ' '.repeat(12)

/** Formats the results of a benchmark by setting, with remarks in lines of at most `width` columns. */
export class CellTable {
  private readonly sources: readonly BenchSource[]
  private readonly link: BenchLink | undefined
  private readonly width: number
  private readonly columns: readonly Column[]

  constructor(
    { sources, link, time }: Pick<BenchResults, 'sources' | 'time'> & { readonly link?: BenchLink | undefined },
    width = 80,
  ) {
    this.sources = sources
    this.link = link
    this.width = width
    this.columns = columnsOf(time, firstBaseline(sources) !== undefined)
  }

  get titles(): string {
    return formatTitles(this.columns)
  }

  /** Returns a line with the setting, and one line per source, more if there are remarks. */
  rows(shape: Shape, cells: readonly BenchCell[]): string[] {
    return [describeShape(shape), ...cells.flatMap((cell) => this.row(cell, cells))]
  }

  private row(cell: BenchCell, cells: readonly BenchCell[]): string[] {
    const { sources, link, columns, width } = this
    const summary = summaryOf(cell, cells, sources, link)
    if (summary === undefined) return problemLines(cell, width)
    const values = cellsOf(
      cell,
      summary,
      sources.find(({ name }) => name === cell.source),
    )
    return [
      formatRow(
        columns,
        columns.map(({ title }) => values[title]!),
      ),
      ...outlierLines(cell, summary, width),
    ]
  }
}

function firstBaseline(sources: readonly BenchSource[]): BenchSource | undefined {
  return sources.find(({ kind, missing }) => kind === 'baseline' && missing === undefined)
}

/** 'randread 4 KiB, depth 32, 2 jobs'. */
export function describeShape(shape: Shape): string {
  const { blockBytes, depth, jobs } = shape
  return `${wordOf(shape)} ${formatBytes(blockBytes)}, depth ${depth}, ${plural(jobs, 'job')}`
}

/** Explains the columns. */
export function legend(sources: readonly BenchSource[], link: BenchLink | undefined, width = 80): string[] {
  const baseline = firstBaseline(sources)
  const ofPlans = sources.filter(({ latencyOf, missing }) => latencyOf === 'plan' && missing === undefined)
  return [
    link === undefined
      ? 'LIMIT: the link is unknown, so rates have no denominator.'
      : `LIMIT: share of ${formatRate(link.payloadLimitBytesPerSecond, 1e9)}, the payload limit of Gen${link.gen} x${link.width} at MPS ${link.mps}.`,
    ...(baseline === undefined ? [] : [`TIMES: rate divided by that of ${baseline.name} in the same run.`]),
    ...ofPlans.map(({ name }) => `P50, P99: ${name} measures plans, not commands; see --json.`),
  ].flatMap((line) => wrap(line, width, '  '))
}

function cellsOf(cell: BenchCell, summary: CellSummary, source: BenchSource | undefined): Record<string, string> {
  const { meanBytesPerSecond: mean, marginBytesPerSecond: marginOfError, latency, ratio } = summary
  const ofCommands = source?.latencyOf !== 'plan'
  const duration = (ns: number | undefined) => (ns === undefined || !ofCommands ? '-' : formatDuration(ns))
  return {
    SOURCE: cell.source,
    RATE: formatEstimate('rate', { mean, marginOfError: undefined, count: cell.repeats.length }),
    'RATE, ± 95 %': formatEstimate('rate', { mean, marginOfError, count: cell.repeats.length }),
    LIMIT: summary.shareOfLimit === undefined ? '-' : formatShare(summary.shareOfLimit),
    kIOPS: short(summary.commandsPerSecond / 1000),
    P50: duration(latency?.p50Ns),
    P99: duration(latency?.p99Ns),
    's/GB': summary.cpuSecondsPerGigabyte === undefined ? '-' : short(summary.cpuSecondsPerGigabyte),
    TIMES: ratio === undefined ? '-' : short(ratio.times),
  }
}

/** Three digits in at most five characters: '0.031', '3.47', '26.5', '852'. */
function short(value: number): string {
  if (value >= 100) return value.toFixed(0)
  return value.toFixed(value >= 10 ? 1 : value >= 1 ? 2 : 3)
}

function problemLines({ source, problem, repeats }: BenchCell, width: number): string[] {
  const kind = problem?.kind === 'refused' ? 'not run' : 'REJECTED'
  const reason = problem?.reason ?? `none of ${plural(repeats.length, 'repeat')} is valid`
  const next = problem?.next === undefined ? '' : `; try: ${problem.next}`
  return wrap(`${source.padEnd(10)}  ${kind}: ${reason}${next}`, width, INDENT)
}

function outlierLines({ repeats }: BenchCell, { medianBytesPerSecond }: CellSummary, width: number): string[] {
  const marked = counted(repeats).flatMap(({ outlier, turn }) =>
    outlier === undefined ? [] : [`turn ${turn ?? '?'} (${outlier})`],
  )
  if (marked.length === 0) return []
  const text = `median ${formatRate(medianBytesPerSecond, 1e9)}; outliers, included in the mean: ${marked.join(', ')}`
  return wrap(text, width - INDENT.length, '').map((line) => `${INDENT}${line}`)
}
