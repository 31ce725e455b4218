import type { Clock } from '@gpunvme/nvme-spec/transport'
import { setTimeout } from 'node:timers/promises'

/** Maximum time between checks for an abort. */
const LOOK_MS = 50

/** This machine's clock, for targets without a transport. */
export const wallClock: Clock = {
  now: () => Math.round(performance.now() * 1e6),
  async idle(untilNs) {
    const leftMs = untilNs / 1e6 - performance.now()
    await setTimeout(Math.min(LOOK_MS, Math.max(1, leftMs)))
  },
}

/** Waits on a clock. @throws the signal's reason. */
export async function pause(clock: Clock, seconds: number, signal: AbortSignal): Promise<void> {
  const untilNs = clock.now() + seconds * 1e9
  while (clock.now() < untilNs) {
    signal.throwIfAborted()
    await clock.idle(untilNs)
  }
}
