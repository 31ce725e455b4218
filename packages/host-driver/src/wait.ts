import type { Clock } from '@gpunvme/nvme-spec/transport'

export const NS_PER_MS = 1_000_000

/** Formats nanoseconds in the largest of ns, µs, ms and s that gives at least 1, with four significant digits. */
export function formatDuration(ns: number): string {
  const [size, unit] =
    ns >= 1e9 ? [1e9, 's'] : ns >= NS_PER_MS ? [NS_PER_MS, 'ms'] : ns >= 1000 ? [1000, 'µs'] : [1, 'ns']
  return `${Number((ns / size).toPrecision(4))} ${unit}`
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
