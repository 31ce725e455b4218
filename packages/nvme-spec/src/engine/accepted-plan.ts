import type { Plan } from '../transport.js'

/**
 * A plan that its caller can no longer change. Commands are staged long after a plan was checked, and sent again after a
 * recovery: whatever is checked and used later is one of these.
 */
export class AcceptedPlan implements Plan {
  readonly operation: Plan['operation']
  readonly nsid: number
  readonly blockBytes: number
  readonly commands: number
  readonly slba: Float64Array
  readonly blocks: Uint32Array
  readonly offsetBytes: Float64Array
  readonly queue: Uint16Array

  /** @param plan whose arrays are given to it: nothing else has them, or will write to them. */
  constructor({ operation, nsid, blockBytes, commands, slba, blocks, offsetBytes, queue }: Plan) {
    this.operation = operation
    this.nsid = nsid
    this.blockBytes = blockBytes
    this.commands = commands
    this.slba = slba
    this.blocks = blocks
    this.offsetBytes = offsetBytes
    this.queue = queue
  }

  /**
   * Copies a plan; one that was accepted before is returned as it is. What the plan says is for `checkPlan` to check.
   * @throws TypeError for arrays of other types than `Plan` has.
   */
  static of(plan: Plan): AcceptedPlan {
    if (plan instanceof AcceptedPlan) return plan
    const { operation, nsid, blockBytes, commands, slba, blocks, offsetBytes, queue } = plan
    return new AcceptedPlan({
      ...{ operation, nsid, blockBytes, commands },
      slba: copyOf('slba', slba, Float64Array),
      blocks: copyOf('blocks', blocks, Uint32Array),
      offsetBytes: copyOf('offsetBytes', offsetBytes, Float64Array),
      queue: copyOf('queue', queue, Uint16Array),
    })
  }
}

type Column = Float64Array | Uint32Array | Uint16Array

function copyOf<T extends Column>(name: string, column: T, type: { new (from: T): T; readonly name: string }): T {
  if (column instanceof type) return new type(column)
  throw new TypeError(
    `plan.${name}: expected a ${type.name}, got ${Object.prototype.toString.call(column).slice(8, -1)}`,
  )
}
