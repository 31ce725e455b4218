import { performance } from 'node:perf_hooks'
import type { Clock } from '@gpunvme/nvme-spec/transport'

/** Time after the last register write during which waits do not pause: drives complete most commands within it. */
const EAGER_NS = 2_000_000

/** Shortest timer of Node. */
const SHORTEST_REST_MS = 1

const LONGEST_REST_MS = 10

/** Interval at which a transport checks whether its device was removed. */
export const REMOVAL_CHECK_NS = 100_000_000

interface Chore {
  readonly intervalNs: number
  readonly action: () => void
  dueNs: number
}

/**
 * Clock of polled hardware: CLOCK_MONOTONIC. No notification tells it that something has changed, so `idle` returns
 * early and often. For 2 ms after a register write (a doorbell: a completion is near) it only lets the event loop turn.
 * After that it pauses, for an eighth of the time that has passed, 1 to 10 ms. It never requests a pause beyond
 * `untilNs`; how precise pauses are depends on the machine.
 */
export class PollingClock implements Clock {
  private readonly time: () => number
  private eagerSinceNs: number
  private readonly chores = new Set<Chore>()

  /** @param time returns nanoseconds, never backwards. */
  constructor(time: () => number = monotonicNs) {
    this.time = time
    this.eagerSinceNs = time()
  }

  now(): number {
    return this.time()
  }

  /** Called at every register write: a completion may arrive at any time from now on. */
  touched(): void {
    this.eagerSinceNs = this.time()
  }

  /** Runs `action` during waits, at most once per interval. @returns a function that stops it. */
  every(intervalNs: number, action: () => void): () => void {
    const chore = { intervalNs, action, dueNs: this.time() + intervalNs }
    this.chores.add(chore)
    return () => this.chores.delete(chore)
  }

  idle(untilNs: number): Promise<void> {
    const now = this.time()
    for (const chore of this.chores) {
      if (now < chore.dueNs) continue
      chore.dueNs = now + chore.intervalNs
      chore.action()
    }
    const restMs = this.restMs(now, untilNs)
    return new Promise((resolve) => {
      if (restMs === 0) setImmediate(resolve)
      else setTimeout(resolve, restMs)
    })
  }

  /** Returns whole milliseconds to pause; 0 to only let the event loop turn. */
  restMs(now: number, untilNs: number): number {
    const waited = now - this.eagerSinceNs
    if (waited < EAGER_NS) return 0
    const rest = Math.min(LONGEST_REST_MS, Math.max(SHORTEST_REST_MS, Math.floor(waited / 8e6)))
    const left = Math.floor((untilNs - now) / 1e6)
    return left < SHORTEST_REST_MS ? 0 : Math.min(rest, left)
  }
}

/**
 * Returns the time of `process.hrtime`, without allocating an array or a BigInt: integers, small enough to be exact.
 */
function monotonicNs(): number {
  return Math.round(performance.now() * 1e6)
}
