import { nextTurn } from '@gpunvme/nvme-spec/runtime'
import { checkDeadline, VirtualClock, type SimulationClock } from './clock.js'

interface Waiter {
  readonly untilNs: number
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}

/**
 * Virtual time with several waiters: the drivers of a host's drives. It advances once everything possible at this
 * instant was done, and for all waiters together: if the first waiter advanced it alone, the others would be late for
 * their own events.
 */
export class SharedClock implements SimulationClock {
  private readonly clock = new VirtualClock()
  private waiters: Waiter[] = []

  now(): number {
    return this.clock.now()
  }

  /** Time of the next scheduled event; Infinity if there is none. */
  get nextNs(): number {
    return this.clock.nextNs
  }

  schedule(atNs: number, action: () => void): void {
    this.clock.schedule(atNs, action)
  }

  /**
   * Resolves when the next event has run, or when `untilNs` or an earlier deadline of another waiter is reached.
   * Rejects, as `VirtualClock.idle` throws, if nothing can happen any more and no waiter has a deadline.
   */
  idle(untilNs: number): Promise<void> {
    checkDeadline(untilNs)
    return new Promise((resolve, reject) => {
      this.waiters.push({ untilNs, resolve, reject })
      // Drivers yield one turn of the event loop before they wait, to code that waits for them: that comes first.
      if (this.waiters.length === 1) void this.advanceLater()
    })
  }

  private async advanceLater(): Promise<void> {
    await nextTurn()
    await nextTurn()
    this.advance()
  }

  private advance(): void {
    const waiters = this.waiters
    this.waiters = []
    const untilNs = waiters.reduce((earliest, waiter) => Math.min(earliest, waiter.untilNs), Infinity)
    try {
      void this.clock.idle(untilNs)
    } catch (error) {
      for (const { reject } of waiters) reject(error)
      return
    }
    for (const { resolve } of waiters) resolve()
  }
}
