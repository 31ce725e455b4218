import { decimal, quoted, visible, wholeTimes } from './format.js'
import type { TraceEvent, TraceSink } from '../transport/index.js'

// Column widths are fixed, not derived from the events, so that traces of two runs can be compared line by line. 99,999
// ms, 'interrupt' and 'write CSTS' fit; longer text shifts only its own line.
const TIME_COLUMNS = 12
const TRACK_COLUMNS = 9
const NAME_COLUMNS = 12

/**
 * Formats one event as a line without line break: time in milliseconds with nanosecond resolution, track, name,
 * queue entry in words, details. A detail that names its own fields, such as that of a register's `format`, is printed
 * without its key. Unprintable characters are escaped.
 * @throws RangeError or TypeError for a time that is not a number below 2^53, or a duration below 0.
 */
export function formatTraceEvent(event: TraceEvent): string {
  const { startNs, durationNs } = wholeTimes(event.timeNs, event.durationNs)
  const columns = [
    `${decimal(startNs, 6).padStart(TIME_COLUMNS)} ms`,
    visible(event.track).padEnd(TRACK_COLUMNS),
    visible(event.name).padEnd(NAME_COLUMNS),
  ]
  if (durationNs !== undefined) columns.push(`took ${decimal(durationNs, 3)} µs`)
  const details = Object.entries(event.details ?? {}).map(([key, value]) => detail(key, value))
  const entry = event.command ?? event.completion
  if (entry !== undefined) details.unshift(visible(entry.text))
  if (details.length > 0) columns.push(details.join(' '))
  return columns.join('  ').trimEnd()
}

/**
 * Returns a sink that writes each event as a line of `formatTraceEvent`.
 * @param output receives a whole line per call, with its line break.
 */
export function textTrace(output: (text: string) => void): TraceSink {
  return (event) => output(`${formatTraceEvent(event)}\n`)
}

function detail(key: string, value: string | number): string {
  if (typeof value === 'string' && value.includes('=')) return visible(value)
  const text = String(value)
  return `${visible(key)}=${/^[^\s"\\]+$/.test(text) ? visible(text) : quoted(text)}`
}
