import type { Clock } from '@gpunvme/nvme-spec/transport'
import { show } from '../options.js'
import { EventQueue } from './event-queue.js'

/** Time as the controller needs it: what it is, and what is to happen later. */
export interface EventClock {
  /** Whole nanoseconds since the start. */
  now(): number
  /** Runs `action` at `atNs`, or now if that has passed; actions of one instant run in the order they were scheduled. */
  schedule(atNs: number, action: () => void): void
}

/** @throws RangeError for what is neither a time below 2^53 nor Infinity. */
export function checkDeadline(untilNs: number): void {
  if (typeof untilNs === 'number' && (untilNs <= Number.MAX_SAFE_INTEGER || untilNs === Infinity)) return
  throw new RangeError(`idle: expected nanoseconds below 2^53, or Infinity, got ${show(untilNs)}`)
}

/** A clock that runs actions when their time has come. */
export interface SimulationClock extends Clock, EventClock {}

/**
 * Virtual time: passes only while somebody waits, and never looks at the wall. Times are whole nanoseconds, so that
 * no rounding of sums can change which of two events is first.
 */
export class VirtualClock implements SimulationClock {
  private readonly events = new EventQueue()
  private nowNs = 0

  now(): number {
    return this.nowNs
  }

  schedule(atNs: number, action: () => void): void {
    if (atNs <= this.nowNs) this.events.pushDue(this.nowNs, action)
    else this.events.push(Math.ceil(atNs), action)
  }

  /**
   * Moves to the next event and runs everything of that instant, or moves to `untilNs` where no event comes before.
   * A part of a nanosecond is waited out, so that a loop around a wait until then ends.
   * The promise is resolved already: waiting costs no timer and no trip through the event loop.
   * @throws RangeError for a wait without an end in which nothing can happen, and for what is no time.
   */
  idle(untilNs: number): Promise<void> {
    checkDeadline(untilNs)
    const { events } = this
    const { nextNs } = events
    const endNs = Math.ceil(untilNs)
    if (nextNs > endNs) {
      this.nowNs = Math.max(this.nowNs, endNs)
      return arrived
    }
    if (nextNs === Infinity) {
      throw new RangeError(`idle(${untilNs}): no event is scheduled, so this wait would never end`)
    }
    this.nowNs = nextNs
    while (events.nextNs === nextNs) events.pop()()
    return arrived
  }
}

const arrived = Promise.resolve()
