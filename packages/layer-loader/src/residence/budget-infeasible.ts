import { GpuNvmeError } from '@gpunvme/nvme-spec/error'
import { humanBytes } from './human-bytes.js'
import type { Budget } from './plan.js'

/** The layers cannot be computed on in so little memory: not even one after the other from the drive. */
export class BudgetInfeasibleError extends GpuNvmeError {
  readonly code = 'ERR_GPUNVME_BUDGET_INFEASIBLE'
  readonly category = 'infeasible'
  readonly budget: Budget
  /** The least GPU memory that works, with the host memory that it takes: for slots alone, every layer on the drive. */
  readonly minimum: Budget

  constructor(budget: Budget, minimum: Budget) {
    // Lists only the memory that is too small.
    const line = (what: string, given: number, least: number) =>
      given >= least ? [] : [`${what}: ${humanBytes(least)} at least, ${humanBytes(given)} given`]
    super('The layers do not fit into this budget', {
      facts: [
        ...line('GPU memory', budget.vramBytes, minimum.vramBytes),
        ...line('host memory', budget.ramBytes, minimum.ramBytes),
      ],
      next: 'give that much; or group the model into smaller layers, since slots are as long as the longest of them',
    })
    this.budget = budget
    this.minimum = minimum
  }
}
