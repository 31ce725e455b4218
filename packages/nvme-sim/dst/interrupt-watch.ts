import { RunFailure } from './failure.js'
import type { Host } from './host.js'
import type { Scenario } from './scenario.js'

/**
 * A host that waits for interrupts: it looks into a completion queue only after its vector has fired, so that an
 * interrupt which does not come is a completion which does not come.
 */
export class InterruptWatch {
  private readonly host: Host
  /** Vectors of queues whose interrupts are disabled. */
  private readonly silent: readonly number[]

  constructor(host: Host, cqs: Scenario['cqs']) {
    this.host = host
    this.silent = cqs.filter(({ interrupts }) => interrupts !== true).map(({ qid }) => qid)
  }

  /** Takes the completions of the queues that have signaled them, and of those without interrupts. */
  async poll(): Promise<void> {
    const { host } = this
    for (const cq of host.cqs.values()) {
      if (cq.vector !== undefined && (await this.hasFired(cq.vector))) cq.isSignaled = true
    }
    for (const vector of this.silent) {
      if (await this.hasFired(vector)) {
        throw new RunFailure('interrupt', `vector ${vector} has fired, of a completion queue without interrupts`)
      }
    }
    host.absorbStrikes()
    for (const [cqid, cq] of host.cqs) if (cq.vector === undefined || cq.isSignaled) host.poll(cqid)
  }

  /** No time passes. */
  private async hasFired(vector: number): Promise<boolean> {
    const { interrupts, clock } = this.host.transport
    return (await interrupts!.wait(vector, clock.now())) === 'fired'
  }
}
