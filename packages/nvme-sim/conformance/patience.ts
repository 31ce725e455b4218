import type { Clock } from '@gpunvme/nvme-spec/transport'
import { fail } from './check.js'
import { nextTask } from './kit/wall.js'

/** Maximum number of waits while the clock stands still; large, since a clock may be coarse, or woken for others. */
const MOST_IDLE = 100_000
/** Waits that resolve at once never give timers a turn, so one is inserted now and then. */
const TASK_EVERY = 10_000

/** Waits on a clock, for as long as that clock advances. */
export class Patience {
  private readonly clock: Clock
  private atNs = 0
  private waits = 0
  private standing = 0

  constructor(clock: Clock) {
    this.clock = clock
  }

  /** Starts a new wait. */
  begin(): void {
    this.standing = 0
  }

  /** @throws CheckFailed if the clock stood still for too many waits. */
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
