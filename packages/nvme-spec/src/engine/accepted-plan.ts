import type { Plan } from '../transport.js'

/**
 * A plan that its caller can no longer change. Engines check and execute an accepted plan, since they stage commands
 * long after the check, and resubmit them after a recovery.
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

  /** @param plan its arrays are not copied: the caller must not keep references to them. */
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
   * Copies a plan; returns an `AcceptedPlan` unchanged. Call `checkPlan` to validate the values.
   * @throws TypeError for arrays of types other than those of `Plan`.
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
