import type { Clock } from '@gpunvme/nvme-spec/transport'

export const NS_PER_MS = 1_000_000

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
