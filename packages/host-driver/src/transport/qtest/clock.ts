import { setTimeout as sleep } from 'node:timers/promises'
import { CSTS } from '@gpunvme/nvme-spec'
import type { Bar, Clock } from '@gpunvme/nvme-spec/transport'

/** For so long after the host last wrote a register, waiting is by looking; what takes longer is worth a sleep. */
const BUSY_NS = 5_000_000
const SLEEP_MS = 1

/** This machine's time. `lastWriteNs` is when the host last wrote a register: what it waits for began there. */
export function hostClock(bar: Bar, isGone: () => boolean, lastWriteNs: () => number): Clock {
  const now = () => Math.round(performance.now() * 1e6)
  return {
    now,
    async idle(untilNs) {
      // QEMU acts upon a doorbell some time after it took it. Each access turns its main loop, and leaves it the
      // processor while we wait for the answer.
      if (!isGone()) bar.read32(CSTS.offset)
      const nowNs = now()
      if (nowNs >= untilNs) return
      if (isGone() || nowNs - lastWriteNs() > BUSY_NS) await sleep(Math.min(SLEEP_MS, (untilNs - nowNs) / 1e6))
      else await new Promise(setImmediate)
    },
  }
}
