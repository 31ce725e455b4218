import { checkInteger } from '../layout/facts.js'
import type { TraceEvent } from '../transport/index.js'
import { formatTraceEvent } from './text.js'

/** A sink that keeps the most recent events, for the message of a failing test. */
export interface RecentEvents {
  /** Keeps `event`, replacing the oldest one if the limit is reached. */
  (event: TraceEvent): void
  /** Returns the kept events, oldest first. */
  events(): TraceEvent[]
  /** Returns the kept events as lines of text, preceded by the number of dropped ones, if any. */
  text(): string
}

/**
 * Returns a sink that keeps the last `limit` events. Memory use is bounded, so it can stay on for a whole test.
 * @param limit number of events to keep, at least 1.
 * @throws RangeError or TypeError if `limit` is not an integer from 1 to 2^32 - 1.
 */
export function recentEvents(limit: number): RecentEvents {
  checkInteger('limit of recent events', limit, 1, 2 ** 32 - 1)
  const kept: TraceEvent[] = []
  let oldest = 0
  let gone = 0

  const keep = (event: TraceEvent): void => {
    if (kept.length < limit) {
      kept.push(event)
      return
    }
    kept[oldest] = event
    oldest = (oldest + 1) % limit
    gone++
  }
  const events = () => [...kept.slice(oldest), ...kept.slice(0, oldest)]
  const text = () => {
    const lines = events().map(formatTraceEvent)
    if (gone > 0) lines.unshift(`… ${gone} earlier events dropped`)
    return lines.map((line) => `${line}\n`).join('')
  }
  return Object.assign(keep, { events, text })
}
