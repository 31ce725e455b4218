import type { FaultReport } from '@gpunvme/nvme-spec/faults'
import type { FaultPlan } from '@gpunvme/nvme-spec/transport'
import { RunFailure } from './failure.js'
import type { Submitted } from './submitted.js'

/** DW0 of an asynchronous event: type in bits 2:0, information in 15:8, log page in 23:16 (Base 2.1 §5.1.2.1). */
const ERROR_TYPE = 0
const ERROR_LOG = 0x01

/** Checks that the result of an Abort matches the outcome of its target. */
export function checkAbort(abort: Submitted): void {
  const { target } = abort
  if (target?.status === undefined || abort.status !== '0/00' || abort.injected.has('status')) return
  const wasAborted = target.status === '0/07'
  if (wasAborted === ((abort.dw0 & 1) === 0)) return
  throw new RunFailure(
    'abort',
    `DW0 bit 0 of the Abort is ${abort.dw0 & 1}, but ${target.name} ended with ${target.status}`,
  )
}

/**
 * Checks asynchronous events. The host enables no optional events, so a changed namespace causes none, and all events
 * other than errors must come from the fault plan.
 */
export class EventChecks {
  private readonly plan: FaultPlan
  private readonly faults: FaultReport
  /** Number of events of the plan that have arrived, by DW0. */
  private readonly forced = new Map<number, number>()

  constructor(plan: FaultPlan, faults: FaultReport) {
    this.plan = plan
    this.faults = faults
  }

  check({ status, dw0, name, injected }: Submitted): void {
    if (status !== '0/00' || injected.has('status')) return
    if ((dw0 & 7) === ERROR_TYPE && ((dw0 >>> 16) & 0xff) === ERROR_LOG) return
    const arrived = (this.forced.get(dw0) ?? 0) + 1
    this.forced.set(dw0, arrived)
    if (arrived <= this.injectedEvents(dw0)) return
    throw new RunFailure(
      'event',
      `${name}: DW0 ${dw0.toString(16)}h is neither an error nor an event of the fault plan`,
    )
  }

  private injectedEvents(dw0: number): number {
    return this.plan.rules.reduce((sum, { action }, rule) => {
      if (action.kind !== 'async-event') return sum
      const { aet, aei, lid } = action
      return sum + ((aet | (aei << 8) | (lid << 16)) >>> 0 === dw0 ? this.faults.hits[rule]! : 0)
    }, 0)
  }
}
