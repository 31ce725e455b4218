import type { Clock } from '@gpunvme/nvme-spec/transport'
import { setTimeout } from 'node:timers/promises'

/** The longest that a pause waits before it looks whether it is still wanted. */
const LOOK_MS = 50

/** The time of this machine, for what has no transport. */
export const wallClock: Clock = {
  now: () => Math.round(performance.now() * 1e6),
  async idle(untilNs) {
    const leftMs = untilNs / 1e6 - performance.now()
    await setTimeout(Math.min(LOOK_MS, Math.max(1, leftMs)))
  },
}

/** Lets time pass on a clock. @throws the signal's reason. */
export async function pause(clock: Clock, seconds: number, signal: AbortSignal): Promise<void> {
  const untilNs = clock.now() + seconds * 1e9
  while (clock.now() < untilNs) {
    signal.throwIfAborted()
    await clock.idle(untilNs)
  }
}
