import type { Clock } from '@gpunvme/nvme-spec/transport'

export const NS_PER_MS = 1_000_000

/** Returns whether a time-out is a finite positive number: NaN, for example, would never end a wait. */
export function isTimeout(ns: unknown): boolean {
  return typeof ns === 'number' && Number.isFinite(ns) && ns > 0
}

export const TIMEOUT_EXPECTED = 'expected a finite number of nanoseconds above 0'

/** Checks a time-out. @throws RangeError */
export function checkTimeout(name: string, ns: unknown): void {
  if (!isTimeout(ns)) throw new RangeError(`${name}: ${TIMEOUT_EXPECTED}, got ${String(ns)}`)
}

/** Interval of polls of a register. */
const POLL_NS = NS_PER_MS

/** Waits until `condition` holds, polling at least once a millisecond; returns false at `deadlineNs`. */
export async function waitUntil(clock: Clock, deadlineNs: number, condition: () => boolean): Promise<boolean> {
  while (!condition()) {
    const now = clock.now()
    if (now >= deadlineNs) return false
    await clock.idle(Math.min(deadlineNs, now + POLL_NS))
  }
  return true
}
