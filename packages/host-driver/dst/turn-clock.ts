import type { Clock, Interrupts } from '@gpunvme/nvme-spec/transport'

interface Waiter {
  readonly untilNs: number
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}

/**
 * A simulated clock for several who wait at a time. The simulator's own moves for whoever asks; with this one time
 * passes only when everybody waits, and no further than the first of them wants. A wait ends for all when time has moved.
 */
export class TurnClock implements Clock {
  private readonly clock: Clock
  private waiters: Waiter[] = []
  private isStopped = false

  constructor(clock: Clock) {
    this.clock = clock
  }

  now(): number {
    return this.clock.now()
  }

  /** The run is over: time passes no more, and whoever still waits goes on waiting. */
  stop(): void {
    this.isStopped = true
  }

  /** Nobody waits for time to pass. */
  get isIdle(): boolean {
    return this.waiters.length === 0
  }

  idle(untilNs: number): Promise<void> {
    return new Promise((resolve, reject) => {
      this.waiters.push({ untilNs, resolve, reject })
      // Whoever is not waiting yet gets two turns of the event loop to do so.
      if (this.waiters.length === 1) setImmediate(() => setImmediate(() => void this.pass()))
    })
  }

  /** Interrupts whose waits are waits of this clock. */
  waitingFor(interrupts: Interrupts): Interrupts {
    return {
      vectors: interrupts.vectors,
      wait: async (vector, untilNs) => {
        for (;;) {
          if ((await interrupts.wait(vector, this.now())) === 'fired') return 'fired'
          if (this.now() >= untilNs) return 'deadline'
          await this.idle(untilNs)
        }
      },
    }
  }

  private async pass(): Promise<void> {
    const waiters = this.waiters
    this.waiters = []
    if (this.isStopped) return
    try {
      await this.clock.idle(Math.min(...waiters.map(({ untilNs }) => untilNs)))
      for (const { resolve } of waiters) resolve()
    } catch (error) {
      for (const { reject } of waiters) reject(error)
    }
  }
}
