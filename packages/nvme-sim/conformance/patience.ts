import type { Clock } from '@gpunvme/nvme-spec/transport'
import { fail } from './check.js'
import { nextTask } from './kit/wall.js'

/** Maximum number of waits without progress of the clock. Large, since a clock may be coarse or wake for others. */
const MAX_IDLE = 100_000
/** Number of waits after which to yield to timers, which waits that resolve at once would starve. */
const TASK_EVERY = 10_000

/** Waits on a clock while that clock advances. */
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

  /** Waits once. @throws CheckFailed if the clock has not advanced for too many waits. */
  async idle(untilNs: number): Promise<void> {
    await this.clock.idle(untilNs)
    if (++this.waits % TASK_EVERY === 0) await nextTask()
    const nowNs = this.clock.now()
    if (nowNs !== this.atNs) this.standing = 0
    else if (++this.standing === MAX_IDLE) {
      fail(`clock.idle(${untilNs}) returned ${MAX_IDLE} times and clock.now() stayed at ${nowNs}`)
    }
    this.atNs = nowNs
  }
}
