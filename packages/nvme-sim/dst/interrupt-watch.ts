import { RunFailure } from './failure.js'
import type { Host } from './host.js'
import type { Scenario } from './scenario.js'

/**
 * Polls a completion queue only after its vector has fired, so that a missing interrupt shows as a missing completion.
 */
export class InterruptWatch {
  private readonly host: Host
  /** Vectors of queues whose interrupts are disabled. */
  private readonly silent: readonly number[]

  constructor(host: Host, cqs: Scenario['cqs']) {
    this.host = host
    this.silent = cqs.filter(({ interrupts }) => interrupts !== true).map(({ qid }) => qid)
  }

  /** Polls the queues that have signaled an interrupt, and those without interrupts. */
  async poll(): Promise<void> {
    const { host } = this
    for (const cq of host.cqs.values()) {
      if (cq.vector !== undefined && (await this.hasFired(cq.vector))) cq.isSignaled = true
    }
    for (const vector of this.silent) {
      if (await this.hasFired(vector)) {
        throw new RunFailure('interrupt', `vector ${vector} fired, but its queue has interrupts disabled`)
      }
    }
    host.absorbStrikes()
    for (const [cqid, cq] of host.cqs) if (cq.vector === undefined || cq.isSignaled) host.poll(cqid)
  }

  /** Returns whether a vector has fired, without letting time pass. */
  private async hasFired(vector: number): Promise<boolean> {
    const { interrupts, clock } = this.host.transport
    return (await interrupts!.wait(vector, clock.now())) === 'fired'
  }
}
