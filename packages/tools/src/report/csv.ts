import type { BenchCell, BenchRepeat, BenchResults } from './bench-results.js'
import { latenciesOf, percentile } from './latencies.js'
import { printableLines } from '../terminal/printable.js'

type Value = string | number | undefined

const COLUMNS = [
  'started_at',
  'time',
  'transport',
  'model',
  'source',
  'kind',
  'memory',
  'rw',
  'pattern',
  'block_bytes',
  'depth',
  'jobs',
  'repeat',
  'bytes',
  'commands',
  'seconds',
  'bytes_per_second',
  'commands_per_second',
  'cpu_seconds',
  'latency_of',
  'latency_p50_ns',
  'latency_p99_ns',
  'latency_max_ns',
  'outlier',
  'problem',
] as const

/**
 * Formats a row per repeat, and one per cell or source without repeats, with the reason in `problem`; RFC 4180. Files
 * of several runs can be joined, since each row names its run.
 */
export function formatCsv(results: BenchResults): string {
  const { startedAt, time, transport, drive, sources, cells } = results
  const run = [startedAt, time, transport, drive.model]
  const missing = sources.flatMap(({ name, kind, memory, missing: why }) =>
    why === undefined ? [] : [row([...run, name, kind, memory], why.reason)],
  )
  const measured = cells.flatMap((cell) => {
    const source = sources.find(({ name }) => name === cell.source)!
    const { rw, pattern, blockBytes, depth, jobs, problem, repeats } = cell
    const place = [...run, cell.source, source.kind, source.memory, rw, pattern, blockBytes, depth, jobs]
    if (repeats.length === 0) return [row(place, problem?.reason)]
    return repeats.map((repeat, index) =>
      row([...place, index + 1, ...numbersOf(repeat, source.latencyOf)], whyNot(cell, repeat)),
    )
  })
  return [COLUMNS, ...missing, ...measured].map((values) => `${values.map(field).join(',')}\r\n`).join('')
}

/** `problem` is always the last column. */
function row(values: readonly Value[], problem: string | undefined): Value[] {
  const blanks = Array.from({ length: COLUMNS.length - 1 - values.length }, () => undefined)
  return [...values, ...blanks, problem]
}

function whyNot({ problem }: BenchCell, repeat: BenchRepeat): string | undefined {
  return repeat.problem ?? problem?.reason
}

function numbersOf(repeat: BenchRepeat, latencyOf: string): Value[] {
  const { bytes, commands, seconds, cpuSeconds, outlier, latency } = repeat
  // Also for an invalid repeat, which its row marks.
  const latencies = latenciesOf([{ bytes, commands, seconds, ...(latency !== undefined && { latency }) }])
  return [
    bytes,
    commands,
    seconds,
    bytes / seconds,
    commands / seconds,
    cpuSeconds,
    latencies && latencyOf,
    latencies && percentile(latencies, 0.5),
    latencies && percentile(latencies, 0.99),
    latencies?.maxNs,
    outlier,
  ]
}

/**
 * Quotes strings if necessary. One that a spreadsheet would interpret as a formula is prefixed with an apostrophe,
 * since names come from drives and files.
 */
function field(value: Value): string {
  if (value === undefined) return ''
  if (typeof value === 'number') return String(value)
  const text = printableLines(value).join(' ')
  const harmless = /^[=+\-@]/.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless
}
