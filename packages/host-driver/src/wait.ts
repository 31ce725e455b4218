import type { Clock } from '@gpunvme/nvme-spec/transport'

export const NS_PER_MS = 1_000_000

/** A time-out that ends: anything else, NaN above all, would make a wait without end. */
export function isTimeout(ns: unknown): boolean {
  return typeof ns === 'number' && Number.isFinite(ns) && ns > 0
}

export const TIMEOUT_EXPECTED = 'expected a finite number of nanoseconds above 0'

/** @throws RangeError for what is no time-out, whatever it is. */
export function checkTimeout(name: string, ns: unknown): void {
  if (!isTimeout(ns)) throw new RangeError(`${name}: ${TIMEOUT_EXPECTED}, got ${String(ns)}`)
}

/** How often a register is looked at while it is waited for. */
const POLL_NS = NS_PER_MS

/** Waits until `condition` holds, looking at least once a millisecond; false when `deadlineNs` came first. */
export async function waitUntil(clock: Clock, deadlineNs: number, condition: () => boolean): Promise<boolean> {
  while (!condition()) {
    const now = clock.now()
    if (now >= deadlineNs) return false
    await clock.idle(Math.min(deadlineNs, now + POLL_NS))
  }
  return true
}
