import { GpuNvmeError } from '@gpunvme/nvme-spec/error'
import { quote } from '../formats/quote.js'
import { humanBytes } from './human-bytes.js'
import { memoryBytesOf, type SlotCounts } from './lay-out.js'
import type { Budget } from './plan.js'
import type { LayerSize } from './predict.js'

/** Error of a budget that is too small even if all layers are read from the drive. */
export class BudgetInfeasibleError extends GpuNvmeError {
  readonly code = 'ERR_GPUNVME_BUDGET_INFEASIBLE'
  readonly category = 'infeasible'
  readonly budget: Budget
  /** The smallest feasible GPU memory, with its host memory: slots only, all layers on the drive. */
  readonly minimum: Budget
  /** The longest layer, or part of one, which determines the length of its slots. */
  readonly longest: LayerSize
  /** Slots for experts, which `minimum` includes; undefined for a plan of whole layers. */
  readonly expertSlots: Budget | undefined

  constructor(
    budget: Budget,
    minimum: Budget,
    longest: LayerSize,
    expertSlots?: Budget,
    /** Fewer slots with which the layers fit. */
    fewerSlots?: SlotCounts,
  ) {
    // Lists only the memory that is too small.
    const line = (what: string, given: number, min: number) =>
      given >= min ? [] : [`${what}: ${humanBytes(min)} at least, ${humanBytes(given)} given`]
    super('The layers do not fit into this budget', {
      facts: [
        ...line('GPU memory', budget.vramBytes, minimum.vramBytes),
        ...line('host memory', budget.ramBytes, minimum.ramBytes),
        ...slotFacts(longest, expertSlots),
      ],
      next: [
        ...(fewerSlots ? [`use { slots: { copies: ${fewerSlots.copies}, drive: ${fewerSlots.drive} } }`] : []),
        'raise the budget',
        ...(longest.part === undefined && expertSlots === undefined
          ? ['split layers of several tensors with fitLayers()']
          : []),
      ].join(', or '),
    })
    this.budget = budget
    this.minimum = minimum
    this.longest = longest
    this.expertSlots = expertSlots
  }
}

function slotFacts(longest: LayerSize, expertSlots: Budget | undefined): string[] {
  const [name, bytes] = [quote(longest.name), humanBytes(memoryBytesOf(longest))]
  const kind = longest.part === undefined ? 'layer' : 'part of a layer'
  if (expertSlots === undefined) return [`each slot takes ${bytes}, as the longest ${kind} does: ${name}`]
  const { vramBytes, ramBytes } = expertSlots
  const inHost = ramBytes === 0 ? '' : `, ${humanBytes(ramBytes)} of host memory`
  return [
    `this includes slots for experts: ${humanBytes(vramBytes)} of GPU memory${inHost}`,
    `each other slot takes ${bytes}, as the longest layer without its experts does: ${name}`,
  ]
}
