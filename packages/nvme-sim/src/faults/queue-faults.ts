import { FaultPlanError, subjectsOf } from '@gpunvme/nvme-spec/faults'
import type { FaultPlan } from '@gpunvme/nvme-spec/transport'

/**
 * Rejects faults of queues that this drive cannot have. A doorbell of such a queue can still be written.
 * @throws FaultPlanError with the rule and the field at fault.
 */
export function checkQueueFaults({ rules }: FaultPlan, ioQueuePairs: number): void {
  rules.forEach((each, rule) => {
    const { match: { qid = 0 } = {}, action } = each
    const refuse = (field: string) => {
      const why = `the largest queue identifier of this drive is ${ioQueuePairs}: this can never apply`
      throw new FaultPlanError(why, { rule, field })
    }
    if (qid > ioQueuePairs && subjectsOf(each).includes('command')) refuse('match.qid')
    if (action.kind === 'stale-completion' && action.qid > ioQueuePairs) refuse('action.qid')
  })
}
