import type { Clock } from '@gpunvme/nvme-spec/transport'
import { fail } from './check.js'
import { nextTask } from './wall.js'

/** Waits that return while the clock stands still: many, since a clock may be coarse, and may be woken for others. */
const MOST_IDLE = 100_000
/** Waits that resolve at once never let a timer have its turn, and so they are given one now and then. */
const TASK_EVERY = 10_000

/** Waits on a clock, for as long as that clock moves. */
export class Patience {
  private readonly clock: Clock
  private atNs = 0
  private waits = 0
  private standing = 0

  constructor(clock: Clock) {
    this.clock = clock
  }

  /** Something else is waited for. */
  begin(): void {
    this.standing = 0
  }

  /** @throws CheckFailed where the clock has stood still for too many waits. */
  async idle(untilNs: number): Promise<void> {
    await this.clock.idle(untilNs)
    if (++this.waits % TASK_EVERY === 0) await nextTask()
    const nowNs = this.clock.now()
    if (nowNs !== this.atNs) this.standing = 0
    else if (++this.standing === MOST_IDLE) {
      fail(`clock.idle(${untilNs}) returned ${MOST_IDLE} times and clock.now() stayed at ${nowNs}`)
    }
    this.atNs = nowNs
  }
}
