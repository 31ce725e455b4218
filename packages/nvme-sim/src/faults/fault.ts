import {
  ArmedPlan,
  addressesBlocks,
  type ArmedRule,
  type FaultReport,
  type MatchedFaults,
} from '@gpunvme/nvme-spec/faults'
import type { FaultPlan } from '@gpunvme/nvme-spec/transport'
import type { ServedCommand } from '../controller/command.js'
import { liveView } from '../controller/live-view.js'
import type { Trace } from '../controller/trace.js'
import type { EventClock } from '../time/clock.js'
import { canDamage } from './damage.js'

/** The simulation's fault plan in execution. */
export class Faults extends ArmedPlan {
  private readonly clock: EventClock

  /** @throws FaultPlanError for an invalid plan. */
  constructor(plan: FaultPlan | undefined, seed: number, clock: EventClock, trace: Trace) {
    super(plan ?? { rules: [] }, {
      seed,
      now: () => clock.now(),
      onInject: ({ rule, kind, where }) => trace.fault(rule, kind, where),
    })
    this.clock = clock
  }

  /** A read-only view for callers. */
  override report(): FaultReport {
    const { hits, injected } = super.report()
    return Object.freeze({ hits: liveView(hits), injected: liveView(injected) })
  }

  /** Returns the faults of a command that the controller has prepared and not begun. */
  matchCommand(command: ServedCommand, pageBytes: number): MatchedFaults | undefined {
    const { sq, sqe } = command
    return this.match(
      () => `SQ ${sq.qid} CID ${sqe.CID}`,
      (rule) => concernsCommand(rule, command) && canDamage(rule.action, command, pageBytes),
    )
  }

  /** Schedules calls of `applyFaults` for rules with a time. */
  schedule(applyFaults: (matched: MatchedFaults) => void): void {
    for (const { atNs, matched } of this.timed()) this.clock.schedule(atNs, () => applyFaults(matched))
  }
}

function concernsCommand({ subjects, match }: ArmedRule, command: ServedCommand): boolean {
  if (!subjects.includes('command')) return false
  const { qid, opcode, nsid, lba } = match
  const { sq, sqe, readWrite } = command
  if (qid !== undefined && qid !== sq.qid) return false
  if (opcode !== undefined && opcode !== sqe.OPC) return false
  if (nsid !== undefined && nsid !== sqe.NSID) return false
  if (lba === undefined) return true
  if (command.isAdmin() || !addressesBlocks(sqe.OPC)) return false
  return readWrite.SLBA <= lba[1] && readWrite.SLBA + readWrite.NLB >= lba[0]
}
