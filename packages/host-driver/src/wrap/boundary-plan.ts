import { checkFaultPlan, FaultPlanError, subjectsOf } from '@gpunvme/nvme-spec/faults'
import type { FaultAction, FaultPlan, Transport } from '@gpunvme/nvme-spec/transport'

/** What only the controller itself can do, whatever it strikes. */
const INSIDE: readonly FaultAction['kind'][] = ['throttle', 'detach-namespace', 'attach-namespace', 'resize-namespace']

const SIMULATOR = 'give this rule to the simulator, which has the controller itself: simulate({ faults })'

/**
 * Refuses what cannot be done between a host and its transport: faults of commands, completions and data, which the
 * controller moves without passing here, and faults inside the controller.
 * @throws FaultPlanError with the rule, the kind and what to do, and for a plan that is none.
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
      const next = mayStrikeElsewhere ? `let it strike a 'register' or a time, 'atNs', or ${SIMULATOR}` : SIMULATOR
      refuse('action.kind', 'strikes commands here, and a wrapper of a transport sees only its registers', next)
    }
    if (kind === 'surprise-reset' && transport.reset === undefined) {
      const next = `use a transport that has reset(), or ${SIMULATOR}`
      refuse('action.kind', `needs a transport that can reset its function, and ${transport.name} cannot`, next)
    }
  })
}
