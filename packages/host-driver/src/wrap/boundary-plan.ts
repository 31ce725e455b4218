import { checkFaultPlan, FaultPlanError, subjectsOf } from '@gpunvme/nvme-spec/faults'
import type { FaultAction, FaultPlan, Transport } from '@gpunvme/nvme-spec/transport'

/** Faults that only the controller itself can cause, whatever they match. */
const INSIDE: readonly FaultAction['kind'][] = [
  'throttle',
  'detach-namespace',
  'attach-namespace',
  'resize-namespace',
  'stale-completion',
  'async-event',
]

const SIMULATOR = 'use this rule in the simulator: simulate({ faults })'

/**
 * Rejects faults that cannot be caused between a host and its transport: those of commands, completions and data, which
 * the controller moves directly, and those inside the controller.
 * @throws FaultPlanError with the rule, the kind and the next step; also for an invalid plan.
 */
export function checkBoundaryPlan(plan: FaultPlan, transport: Transport): void {
  checkFaultPlan(plan)
  plan.rules.forEach((each, rule) => {
    const { kind } = each.action
    const refuse = (field: string, why: string, next: string) => {
      throw new FaultPlanError(`'${kind}' ${why}`, { rule, field }, { next })
    }
    if (INSIDE.includes(kind)) refuse('action.kind', 'happens inside the controller, not at its registers', SIMULATOR)
    if (subjectsOf(each).includes('command')) {
      const mayStrikeElsewhere = kind === 'fatal-status' || kind === 'remove-device' || kind === 'surprise-reset'
      const next = mayStrikeElsewhere ? `match a 'register' or a time ('atNs'), or ${SIMULATOR}` : SIMULATOR
      refuse('action.kind', 'matches commands, but a wrapper of a transport sees only its registers', next)
    }
    if (kind === 'surprise-reset' && transport.reset === undefined) {
      const next = `use a transport that has reset(), or ${SIMULATOR}`
      refuse('action.kind', `needs a transport that can reset its function, which ${transport.name} cannot`, next)
    }
  })
}
