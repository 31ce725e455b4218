import type { TraceEvent, TraceSink } from '../transport.js'
import { decimal, wholeTimes } from './decimal.js'
import { quoted, visible } from './escape.js'

// Fixed, and not as wide as what was seen so far: the same event is the same line in every run, or two runs could not
// be compared. 99,999 ms, 'interrupt' and 'write CSTS' fit; what is longer moves the rest of its own line only.
const TIME_COLUMNS = 12
const TRACK_COLUMNS = 9
const NAME_COLUMNS = 12

/**
 * One event as one line without its line break, for people and for comparing two runs: the time in milliseconds down to
 * the nanosecond, the track, the name, and the details. A detail that names its own fields, as `formatSqe` and a
 * register's `format` do, stands without its key. Everything unprintable is escaped.
 * @throws RangeError or TypeError for a time that is no number below 2^53, or a duration below 0.
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
  if (details.length > 0) columns.push(details.join(' '))
  return columns.join('  ').trimEnd()
}

/**
 * A sink that writes each event as a line of `formatTraceEvent`.
 * @param output Takes the text, a whole line with its line break a call.
 */
export function textTrace(output: (text: string) => void): TraceSink {
  return (event) => output(`${formatTraceEvent(event)}\n`)
}

function detail(key: string, value: string | number): string {
  if (typeof value === 'string' && value.includes('=')) return visible(value)
  const text = String(value)
  return `${visible(key)}=${/^[^\s"\\]+$/.test(text) ? visible(text) : quoted(text)}`
}
