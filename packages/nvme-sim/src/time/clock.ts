import type { Clock } from '@gpunvme/nvme-spec/transport'
import { show } from '../options.js'
import { EventQueue } from './event-queue.js'

/** Time as used by the controller: the current time, and scheduled actions. */
export interface EventClock {
  /** Whole nanoseconds since the start. */
  now(): number
  /** Runs `action` at `atNs`, or now if that has passed; actions of one instant run in the order of scheduling. */
  schedule(atNs: number, action: () => void): void
}

/** @throws RangeError for anything other than a time below 2^53 or Infinity. */
export function checkDeadline(untilNs: number): void {
  if (typeof untilNs === 'number' && (untilNs <= Number.MAX_SAFE_INTEGER || untilNs === Infinity)) return
  throw new RangeError(`idle: expected nanoseconds below 2^53, or Infinity, got ${show(untilNs)}`)
}

/** A clock that runs actions when they are due. */
export interface SimulationClock extends Clock, EventClock {}

/**
 * Virtual time: advances only during waits, independent of real time. Times are whole nanoseconds, so that rounding of
 * sums cannot change the order of two events.
 */
export class VirtualClock implements SimulationClock {
  private readonly events = new EventQueue()
  private nowNs = 0

  now(): number {
    return this.nowNs
  }

  /** Time of the next scheduled event; Infinity if there is none. */
  get nextNs(): number {
    return this.events.nextNs
  }

  schedule(atNs: number, action: () => void): void {
    if (atNs <= this.nowNs) this.events.pushDue(this.nowNs, action)
    else this.events.push(Math.ceil(atNs), action)
  }

  /**
   * Advances to the next event and runs everything of that instant, or advances to `untilNs` if no event comes before.
   * A fraction of a nanosecond is rounded up, so that a loop that waits for a time ends. The returned promise is
   * already resolved: waiting takes no timer and no turn of the event loop.
   * @throws RangeError for an unlimited wait in which nothing can happen, and for an invalid time.
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
