import { statusOutcome } from '@gpunvme/nvme-spec/engine'
import type { CommandOutcome, OutcomeSummary, Plan } from '@gpunvme/nvme-spec/transport'
import type { FinishedPlan } from './engine-addon.js'

/** Values of `Ending` in `cuda/share.cuh`; 0 is a command that was not submitted. */
const STATUS = 2
const TIMEOUT = 3
const LOST = 4

/** Inputs of a plan's summary, besides its native outcome. */
export interface PlanContext {
  readonly plan: Plan
  readonly qids: readonly number[]
  readonly timeoutNs: number
  readonly startNs: number
}

/** Returns the summary of a completed plan. */
export function summaryOf(
  { succeeded, bytes, failures: words }: FinishedPlan,
  { plan, qids, timeoutNs, startNs }: PlanContext,
  csts: number,
  endNs: number,
): OutcomeSummary {
  const failures: CommandOutcome[] = []
  for (let at = 0; at < words.length; at += 3) {
    const command = words[at]!
    const outcome = outcomeOf(words[at + 1]!, words[at + 2]! & 0x7fff, timeoutNs, csts)
    failures.push(
      outcome.kind === 'not-submitted'
        ? neverSubmitted(command)
        : { command, qid: qids[plan.queue[command]!]!, cid: words[at + 2]! >>> 16, outcome },
    )
  }
  return { commands: plan.commands, succeeded, bytes, failures, startNs, endNs }
}

/** Returns the summary of a plan without submitted commands. */
export function nothingOf(plan: Plan, startNs: number, endNs: number): OutcomeSummary {
  const failures = Array.from({ length: plan.commands }, (_, command) => neverSubmitted(command))
  return { commands: plan.commands, succeeded: 0, bytes: 0, failures, startNs, endNs }
}

function neverSubmitted(command: number): CommandOutcome {
  return { command, qid: -1, cid: -1, outcome: { kind: 'not-submitted' } }
}

function outcomeOf(ending: number, status: number, timeoutNs: number, csts: number): CommandOutcome['outcome'] {
  switch (ending) {
    case STATUS:
      return statusOutcome(status)
    case TIMEOUT:
      return { kind: 'timeout', afterNs: timeoutNs }
    case LOST:
      return { kind: 'device-lost', csts }
    default:
      return { kind: 'not-submitted' }
  }
}
