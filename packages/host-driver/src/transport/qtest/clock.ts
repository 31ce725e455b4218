import { setTimeout as sleep } from 'node:timers/promises'
import { CSTS } from '@gpunvme/nvme-spec'
import type { Bar, Clock } from '@gpunvme/nvme-spec/transport'

/** Time after a register write during which waits poll; longer waits sleep. */
const BUSY_NS = 5_000_000
const SLEEP_MS = 1

/** Time of this machine. `lastWriteNs` returns the time of the host's last register write, at which its wait began. */
export function hostClock(bar: Bar, isGone: () => boolean, lastWriteNs: () => number): Clock {
  const now = () => Math.round(performance.now() * 1e6)
  return {
    now,
    async idle(untilNs) {
      // QEMU handles a doorbell some time after it was written. Each access runs its main loop, and leaves it the
      // processor while this side waits for the answer.
      if (!isGone()) bar.read32(CSTS.offset)
      const nowNs = now()
      if (nowNs >= untilNs) return
      if (isGone() || nowNs - lastWriteNs() > BUSY_NS) await sleep(Math.min(SLEEP_MS, (untilNs - nowNs) / 1e6))
      else await new Promise(setImmediate)
    },
  }
}
