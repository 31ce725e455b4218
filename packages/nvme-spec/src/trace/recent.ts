import { checkInteger } from '../integer.js'
import type { TraceEvent } from '../transport.js'
import { formatTraceEvent } from './text.js'

/** A sink that keeps the last events, for the message of a test that fails. */
export interface RecentEvents {
  /** Keeps `event`, in place of the oldest one when there are as many as are kept. */
  (event: TraceEvent): void
  /** What is kept, oldest first. */
  events(): TraceEvent[]
  /** The same as lines of text, after one that says how many came before them, if any did. */
  text(): string
}

/**
 * A sink that keeps the last `limit` events and nothing of those before them, so that it can stay on for as long as a
 * test runs.
 * @param limit How many, at least 1.
 * @throws RangeError or TypeError for a `limit` that is no integer from 1 to 2^32 - 1.
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
    if (gone > 0) lines.unshift(`… ${gone} earlier events were not kept`)
    return lines.map((line) => `${line}\n`).join('')
  }
  return Object.assign(keep, { events, text })
}
