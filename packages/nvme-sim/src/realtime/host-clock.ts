import type { Clock } from '@gpunvme/nvme-spec/transport'
import { checkDeadline } from '../time/clock.js'
import { ACTIVITY, BLOCKED, HOST_WAITS, WANTS_MESSAGE } from './control.js'

/** Polling without sleeping: as long as a simulator without latency needs for a few commands. */
const SPIN_NS = 20_000
/** Maximum time that the thread blocks at once, with a turn of its event loop in between. */
const BLOCK_MS = 1
/** Afterwards it waits for a message, and its event loop is free. */
const BLOCKING_NS = 5_000_000
/** Maximum wait for a message. */
const MESSAGE_MS = 50
/** Interval at which a thread yields to its event loop even if it never has to wait. */
const BREATH_NS = 2_000_000

/**
 * Wall time for a JavaScript host. `idle` first polls, since a polling simulator responds within microseconds. Then it
 * blocks the thread for a millisecond at a time, which leaves the only processor to the simulator, with turns of the
 * event loop in between. Finally it waits like any event handler.
 */
export class HostClock implements Clock {
  private readonly control: Int32Array
  private seen = 0
  private lastTurnNs = 0
  /** Waiters for a message: several may wait for the same controller. */
  private readonly waiting = new Set<() => void>()

  constructor(control: Int32Array) {
    this.control = control
  }

  now(): number {
    return Math.floor(performance.now() * 1e6)
  }

  idle(untilNs: number): Promise<void> {
    checkDeadline(untilNs)
    // Each waiter compares with the state at its own start.
    const { seen } = this
    if (this.hasChanged(seen)) return this.breathe()
    const spinUntilNs = Math.min(untilNs, this.now() + SPIN_NS)
    do {
      for (let i = 0; i < 50; i++) if (this.hasChanged(seen)) return this.breathe()
    } while (this.now() < spinUntilNs)
    return this.rest(untilNs, seen)
  }

  /** The simulator has sent a message, or has ended. */
  awake(): void {
    for (const wake of this.waiting) wake()
  }

  private hasChanged(since: number): boolean {
    const activity = Atomics.load(this.control, ACTIVITY)
    if (activity === since) return false
    this.seen = activity
    return true
  }

  private breathe(): Promise<void> {
    return this.now() - this.lastTurnNs < BREATH_NS ? arrived : this.turn()
  }

  private async rest(untilNs: number, seen: number): Promise<void> {
    const { control, waiting } = this
    const blockUntilNs = this.now() + BLOCKING_NS
    for (;;) {
      const nowNs = this.now()
      if (nowNs >= untilNs) return
      const leftMs = (untilNs - nowNs) / 1e6
      if (nowNs < blockUntilNs) {
        Atomics.store(control, HOST_WAITS, BLOCKED)
        Atomics.wait(control, ACTIVITY, seen, Math.min(leftMs, BLOCK_MS))
        Atomics.store(control, HOST_WAITS, waiting.size === 0 ? 0 : WANTS_MESSAGE)
        // No message was sent to the others meanwhile.
        if (Atomics.load(control, ACTIVITY) !== seen) this.awake()
        await this.turn()
      } else await this.message(Math.min(leftMs, MESSAGE_MS), seen)
      if (this.hasChanged(seen)) return
    }
  }

  /** Resolves after one turn of the event loop. */
  private turn(): Promise<void> {
    return new Promise((resolve) => {
      setImmediate(() => {
        this.lastTurnNs = this.now()
        resolve()
      })
    })
  }

  private message(limitMs: number, seen: number): Promise<void> {
    const { control, waiting } = this
    return new Promise((resolve) => {
      const wake = () => {
        clearTimeout(timer)
        waiting.delete(wake)
        if (waiting.size === 0) Atomics.store(control, HOST_WAITS, 0)
        resolve()
      }
      const timer = setTimeout(wake, Math.ceil(limitMs))
      waiting.add(wake)
      Atomics.store(control, HOST_WAITS, WANTS_MESSAGE)
      // Events before the request are not announced by message.
      if (Atomics.load(control, ACTIVITY) !== seen) wake()
    })
  }
}

const arrived = Promise.resolve()
