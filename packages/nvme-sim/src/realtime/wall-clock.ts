import { EventQueue } from '../time/event-queue.js'
import type { EventClock } from '../time/clock.js'

/** So many events run before doorbells are looked at again: a long queue keeps no other one waiting. */
const EVENTS_PER_TURN = 16

/**
 * The wall's time, as the controller sees it: it stands still while the controller works and moves on with `tick`,
 * so that what costs no time happens at once, and looking at the clock costs nothing. It is never ahead of the wall:
 * nothing happens before its time has come, and a delay is never shorter than it was asked to be.
 */
export class WallClock implements EventClock {
  private readonly events = new EventQueue()
  private readonly startMs = performance.now()
  private nowNs = 0

  now(): number {
    return this.nowNs
  }

  /** When the next event is due; Infinity where there is none. */
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

  /** Runs some of what is due; false where nothing was. */
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
