import { EventQueue } from '../time/event-queue.js'
import type { EventClock } from '../time/clock.js'

/** Number of events run before doorbells are polled again: a long queue must not delay the others. */
const EVENTS_PER_TURN = 16

/**
 * Wall time as seen by the controller. It stands still while the controller works and advances with `tick`, so that
 * work without a cost happens at once, and reading the clock costs nothing. It is never ahead of real time: no event is
 * early, and no delay is too short.
 */
export class WallClock implements EventClock {
  private readonly events = new EventQueue()
  private readonly startMs = performance.now()
  private nowNs = 0

  now(): number {
    return this.nowNs
  }

  /** Time of the next event; Infinity if there is none. */
  get nextNs(): number {
    return this.events.nextNs
  }

  schedule(atNs: number, action: () => void): void {
    if (atNs <= this.nowNs) this.events.pushDue(this.nowNs, action)
    else this.events.push(Math.ceil(atNs), action)
  }

  tick(): void {
    this.nowNs = Math.max(this.nowNs, Math.floor((performance.now() - this.startMs) * 1e6))
  }

  /** Runs some due events; returns false if there were none. */
  run(): boolean {
    const { events } = this
    const { nextNs } = events
    if (nextNs === Infinity) return false
    if (nextNs > this.nowNs) {
      this.tick()
      if (nextNs > this.nowNs) return false
    }
    for (let i = 0; i < EVENTS_PER_TURN; i++) {
      const action = events.popUntil(this.nowNs)
      if (action === undefined) break
      action()
    }
    return true
  }
}
