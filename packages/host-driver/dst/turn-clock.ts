import type { Clock, Interrupts } from '@gpunvme/nvme-spec/transport'

interface Waiter {
  readonly untilNs: number
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}

/**
 * A simulated clock for concurrent tasks. The simulator's own clock advances with each wait; this clock advances only
 * when all tasks wait, to the earliest of their deadlines, and then ends all waits.
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

  /** Stops time at the end of a run: pending waits never end. */
  stop(): void {
    this.isStopped = true
  }

  /** Whether no task is waiting for time to pass. */
  get isIdle(): boolean {
    return this.waiters.length === 0
  }

  idle(untilNs: number): Promise<void> {
    return new Promise((resolve, reject) => {
      this.waiters.push({ untilNs, resolve, reject })
      // Other tasks may begin to wait within two turns of the event loop.
      if (this.waiters.length === 1) setImmediate(() => setImmediate(() => void this.pass()))
    })
  }

  /** Wraps interrupts so that waits for them use this clock. */
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
