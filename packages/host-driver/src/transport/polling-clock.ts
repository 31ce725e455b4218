import { performance } from 'node:perf_hooks'
import type { Clock } from '@gpunvme/nvme-spec/transport'

/** How long after the last register write a wait takes no rest: drives answer most commands within this time. */
const EAGER_NS = 2_000_000

/** The least that a timer of Node waits. */
const SHORTEST_REST_MS = 1

const LONGEST_REST_MS = 10

/** How often a transport looks whether its device was taken away. */
export const REMOVAL_CHECK_NS = 100_000_000

interface Chore {
  readonly intervalNs: number
  readonly action: () => void
  dueNs: number
}

/**
 * The clock of hardware that is looked at again and again: CLOCK_MONOTONIC. Nothing tells it that something has changed,
 * so `idle` returns early and often. For 2 ms after a register was written - a doorbell was rung, an answer is near - it
 * only lets the event loop turn; after that it rests, an eighth of the time that has passed, 1 to 10 ms at once. It never
 * asks for a rest beyond `untilNs`; how punctual the rests are is up to the machine.
 */
export class PollingClock implements Clock {
  private readonly time: () => number
  private eagerSinceNs: number
  private readonly chores = new Set<Chore>()

  /** @param time nanoseconds that never run backwards. */
  constructor(time: () => number = monotonicNs) {
    this.time = time
    this.eagerSinceNs = time()
  }

  now(): number {
    return this.time()
  }

  /** Called with every register write: an answer may come at any time from now on. */
  touched(): void {
    this.eagerSinceNs = this.time()
  }

  /** Does `action` in waits, at most this often. @returns what ends that. */
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

  /** Whole milliseconds to rest; 0 where only the event loop is to turn. */
  restMs(now: number, untilNs: number): number {
    const waited = now - this.eagerSinceNs
    if (waited < EAGER_NS) return 0
    const rest = Math.min(LONGEST_REST_MS, Math.max(SHORTEST_REST_MS, Math.floor(waited / 8e6)))
    const left = Math.floor((untilNs - now) / 1e6)
    return left < SHORTEST_REST_MS ? 0 : Math.min(rest, left)
  }
}

/** The time that `process.hrtime` gives, without its array or BigInt per call: integers, small enough to be exact. */
function monotonicNs(): number {
  return Math.round(performance.now() * 1e6)
}
