import { MAX_BLOCKS_PER_COMMAND } from '../limits.js'
import type { DmaMemory, Plan } from '../transport/index.js'

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
      operation,
      nsid,
      blockBytes,
      commands,
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

/** Limits of an engine's queue that plans must respect. */
export interface PlanQueue {
  /** Maximum transfer of one command of this queue. */
  readonly maxTransferBytes: number
  /**
   * Returns why a command of this queue cannot describe these bytes of the memory, as expected and actual values;
   * undefined if it can. For queues that support only PRPs this is `prpProblem`.
   * @param lengthBytes at least 1, inside the memory.
   */
  problem(memory: DmaMemory, offsetBytes: number, lengthBytes: number): string | undefined
}

/**
 * Rejects a plan that would make the controller access memory outside `memory`, or that exceeds the queues. Every plan
 * is checked here before its first command is staged.
 * @param queues the engine's attached queues, in order; empty if there are none.
 * @throws TypeError for no queues or an unknown operation; RangeError naming the command.
 */
export function checkPlan(plan: Plan, memory: DmaMemory, queues: readonly PlanQueue[]): void {
  const { operation, blockBytes, commands, slba, blocks, offsetBytes, queue } = plan
  if (queues.length === 0) throw new TypeError('the engine has no queues: call attach() first')
  // Untyped callers can pass other values, and everything other than a read would be encoded as a write.
  if ((operation as string) !== 'read' && (operation as string) !== 'write') {
    throw new TypeError(`plan.operation: expected 'read' or 'write', got ${JSON.stringify(operation)}`)
  }
  if (!Number.isSafeInteger(blockBytes) || blockBytes < 512) {
    throw new RangeError(`plan.blockBytes: expected at least 512, got ${blockBytes}`)
  }
  checkLength('slba', slba, commands)
  checkLength('blocks', blocks, commands)
  checkLength('offsetBytes', offsetBytes, commands)
  checkLength('queue', queue, commands)
  for (let command = 0; command < commands; command++) {
    const problem = problemWith(plan, command, memory, queues)
    if (problem !== undefined) throw new RangeError(`plan command ${command}: expected ${problem}`)
  }
}

function checkLength(name: string, { length }: Column, commands: number): void {
  if (length !== commands) throw new RangeError(`plan.${name}: expected ${commands} entries, got ${length}`)
}

function problemWith(plan: Plan, command: number, memory: DmaMemory, queues: readonly PlanQueue[]): string | undefined {
  const slba = plan.slba[command]!
  const blocks = plan.blocks[command]!
  const queue = queues[plan.queue[command]!]
  if (queue === undefined) return `a queue from 0 to ${queues.length - 1}, got ${plan.queue[command]}`
  if (blocks < 1 || blocks > MAX_BLOCKS_PER_COMMAND) return `1 to ${MAX_BLOCKS_PER_COMMAND} blocks, got ${blocks}`
  if (!Number.isSafeInteger(slba) || slba < 0) return `an LBA below 2^53, got ${slba}`
  return transferProblem(memory, plan.offsetBytes[command]!, blocks * plan.blockBytes, queue)
}

/**
 * Returns why a command of `queue` cannot transfer these bytes, as expected and actual values; undefined if it can.
 * @param lengthBytes at least 1.
 */
export function transferProblem(
  memory: DmaMemory,
  offsetBytes: number,
  lengthBytes: number,
  queue: PlanQueue,
): string | undefined {
  const endBytes = offsetBytes + lengthBytes
  if (!Number.isSafeInteger(offsetBytes) || offsetBytes < 0 || endBytes > memory.lengthBytes) {
    return `bytes inside the memory of ${memory.lengthBytes} bytes, got bytes ${offsetBytes} to ${endBytes}`
  }
  if (memory.iovaAt(offsetBytes) % 4 !== 0) {
    return `a dword-aligned address for PRP1, got byte ${offsetBytes} of the memory`
  }
  if (lengthBytes > queue.maxTransferBytes) return `at most ${queue.maxTransferBytes} bytes, got ${lengthBytes}`
  return queue.problem(memory, offsetBytes, lengthBytes)
}
