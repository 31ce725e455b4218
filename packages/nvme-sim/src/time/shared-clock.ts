import { nextTurn } from '@gpunvme/nvme-spec/runtime'
import { checkDeadline, VirtualClock, type SimulationClock } from './clock.js'

interface Waiter {
  readonly untilNs: number
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}

/**
 * Virtual time that several wait for, each driver of a host for its own drive. It passes once all that can still be
 * done at this instant was done, and then for everybody: were it moved by whoever waits first, the others would come
 * late to what was theirs.
 */
export class SharedClock implements SimulationClock {
  private readonly clock = new VirtualClock()
  private waiters: Waiter[] = []

  now(): number {
    return this.clock.now()
  }

  schedule(atNs: number, action: () => void): void {
    this.clock.schedule(atNs, action)
  }

  /**
   * Resolves when the next event has run, or `untilNs` or an earlier deadline of another who waits is reached.
   * Rejects, as `VirtualClock.idle` throws, where nothing can happen any more and nobody has a deadline.
   */
  idle(untilNs: number): Promise<void> {
    checkDeadline(untilNs)
    return new Promise((resolve, reject) => {
      this.waiters.push({ untilNs, resolve, reject })
      // Drivers let the event loop turn once before they wait, for whoever has been waiting for them: that comes first.
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
