import { ArmedPlan, addressesBlocks, type ArmedRule, type FaultReport, type Struck } from '@gpunvme/nvme-spec/faults'
import type { FaultPlan } from '@gpunvme/nvme-spec/transport'
import type { ServedCommand } from '../controller/command.js'
import { liveView } from '../controller/live-view.js'
import type { Trace } from '../controller/trace.js'
import type { EventClock } from '../time/clock.js'
import { canDamage } from './damage.js'

/** The simulation's fault plan under way: what it strikes of commands, and when. */
export class Faults extends ArmedPlan {
  private readonly clock: EventClock

  /** @throws FaultPlanError for a plan that is none. */
  constructor(plan: FaultPlan | undefined, seed: number, clock: EventClock, trace: Trace) {
    super(plan ?? { rules: [] }, {
      seed,
      now: () => clock.now(),
      onStrike: ({ rule, kind, where }) => trace.fault(rule, kind, where),
    })
    this.clock = clock
  }

  /** As a caller may see it. */
  override report(): FaultReport {
    const { struck, strikes } = super.report()
    return Object.freeze({ struck: liveView(struck), strikes: liveView(strikes) })
  }

  /** What strikes a command that the controller has looked at and not begun. */
  strikeCommand(command: ServedCommand, pageBytes: number): Struck | undefined {
    const { sq, sqe } = command
    return this.strike(
      () => `SQ ${sq.qid} CID ${sqe.CID}`,
      (rule) => concernsCommand(rule, command) && canDamage(rule.action, command, pageBytes),
    )
  }

  /** Has `suffer` called when the time of a rule has come. */
  schedule(suffer: (struck: Struck) => void): void {
    for (const { atNs, struck } of this.timed()) this.clock.schedule(atNs, () => suffer(struck))
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
