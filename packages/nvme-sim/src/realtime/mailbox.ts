import { POSTED, RESULT, RING, RING_ENTRIES, TAKEN, wakeSimulator } from './control.js'

/** Polls of the simulator's progress before the thread sleeps: a few microseconds. */
const SPINS = 2_000
const SLEEP_MS = 1

/**
 * Accesses of a JavaScript host that plain memory cannot represent, passed to the simulator individually and in order.
 * As on PCIe, writes are posted, and reads wait until everything before them has been executed.
 */
export class Mailbox {
  readonly control: Int32Array
  /** The simulator has ended: nothing waits for it, and reads return nothing. */
  isGone = false
  private readonly limitMs: number
  private readonly giveUp: () => void
  private posted = 0

  /** `giveUp` is called if the simulator makes no progress for `limitMs`; it sets `isGone`. */
  constructor(control: Int32Array, limitMs: number, giveUp: () => void) {
    this.control = control
    this.limitMs = limitMs
    this.giveUp = giveUp
  }

  post(what: number, where: number, value: number): void {
    this.waitFor(RING_ENTRIES - 1)
    if (this.isGone) return
    const { control } = this
    const at = RING + 3 * ((this.posted >>> 0) % RING_ENTRIES)
    control[at] = what
    control[at + 1] = where
    control[at + 2] = value
    this.posted = (this.posted + 1) | 0
    Atomics.store(control, POSTED, this.posted)
    wakeSimulator(control)
  }

  /** Returns the 32 bits of a read access; undefined if the simulator has ended. */
  ask(what: number, where: number): number | undefined {
    this.post(what, where, 0)
    this.settle()
    return this.isGone ? undefined : this.control[RESULT]! >>> 0
  }

  /** Waits until all posted accesses have been executed. */
  settle(): void {
    this.waitFor(0)
  }

  /** Waits until at most `most` accesses are outstanding. */
  private waitFor(max: number): void {
    const { control, limitMs } = this
    let deadlineMs = 0
    for (let spins = 0; !this.isGone; spins++) {
      const taken = Atomics.load(control, TAKEN)
      if (((this.posted - taken) | 0) <= max) return
      if (spins < SPINS) continue
      if (spins === SPINS) deadlineMs = performance.now() + limitMs
      else if (performance.now() > deadlineMs) this.giveUp()
      Atomics.wait(control, TAKEN, taken, SLEEP_MS)
    }
  }
}
