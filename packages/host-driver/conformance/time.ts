import type { Clock } from '@gpunvme/nvme-spec/transport'

export const NS_PER_MS = 1_000_000
export const SECOND_NS = 1_000 * NS_PER_MS

/** Waits until `condition` holds, and polls it at least once a millisecond; returns false after `limitNs`. */
export async function waitUntil(clock: Clock, limitNs: number, condition: () => boolean): Promise<boolean> {
  const deadlineNs = clock.now() + limitNs
  while (!condition()) {
    const nowNs = clock.now()
    if (nowNs >= deadlineNs) return false
    await clock.idle(Math.min(deadlineNs, nowNs + NS_PER_MS))
  }
  return true
}
