import type { Clock } from '@gpunvme/nvme-spec/transport'
import { checkDeadline } from '../time/clock.js'
import { ACTIVITY, BLOCKED, HOST_WAITS, WANTS_MESSAGE } from './control.js'

/** Looking without sleeping: as long as a simulator without latency takes for a few commands. */
const SPIN_NS = 20_000
/** The longest that the thread is blocked at a time, with a turn of its event loop between. */
const BLOCK_MS = 1
/** After that it waits for a message, and its event loop is free. */
const BLOCKING_NS = 5_000_000
/** The longest wait for a message. */
const MESSAGE_MS = 50
/** A thread that never has to wait still gives its event loop a turn as often as this. */
const BREATH_NS = 2_000_000

/**
 * The wall's time for a JavaScript host. `idle` looks at first, since a simulator that polls answers within
 * microseconds; then blocks the thread for a millisecond at a time, which leaves the processor to the simulator where
 * there is only one, and lets the event loop turn between; and at last waits as any event handler does.
 */
export class HostClock implements Clock {
  private readonly control: Int32Array
  private seen = 0
  private lastTurnNs = 0
  /** Whoever waits for a message: there may be several that wait for the same controller. */
  private readonly waiting = new Set<() => void>()

  constructor(control: Int32Array) {
    this.control = control
  }

  now(): number {
    return Math.floor(performance.now() * 1e6)
  }

  idle(untilNs: number): Promise<void> {
    checkDeadline(untilNs)
    // What another has seen meanwhile, this one has not: it looked at the controller before it came here.
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
        // Nobody sent the others a message meanwhile.
        if (Atomics.load(control, ACTIVITY) !== seen) this.awake()
        await this.turn()
      } else await this.message(Math.min(leftMs, MESSAGE_MS), seen)
      if (this.hasChanged(seen)) return
    }
  }

  /** Until the event loop has turned once. */
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
      // What came before that was asked for is not told.
      if (Atomics.load(control, ACTIVITY) !== seen) wake()
    })
  }
}

const arrived = Promise.resolve()
