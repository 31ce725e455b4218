import { MAX_BLOCKS_PER_COMMAND } from '../limits.js'
import type { DmaMemory, Plan } from '../transport.js'

/** What a plan may ask of one of the queues that an engine has. */
export interface PlanQueue {
  /** The largest transfer that one command of this queue can describe. */
  readonly maxTransferBytes: number
  /**
   * What was expected of these bytes of the memory, and what was found, where a command of this queue cannot describe
   * them; undefined where it can. Of queues with PRPs alone that is `prpProblem`.
   * @param lengthBytes at least 1, inside the memory.
   */
  problem(memory: DmaMemory, offsetBytes: number, lengthBytes: number): string | undefined
}

/**
 * Refuses a plan that would have the controller touch memory outside `memory`, or needs more than the queues have.
 * Every plan passes here, whoever made it, before its first command is staged.
 * @param queues what the engine was attached to, in that order; none where it has none.
 * @throws TypeError for no queues or an unknown operation; RangeError naming the command.
 */
export function checkPlan(plan: Plan, memory: DmaMemory, queues: readonly PlanQueue[]): void {
  const { operation, blockBytes, commands, slba, blocks, offsetBytes, queue } = plan
  if (queues.length === 0) throw new TypeError('this engine has no queues: attach() them first')
  // Callers without types bring other words, and whatever is not a read would be encoded as a write.
  if ((operation as string) !== 'read' && (operation as string) !== 'write') {
    throw new TypeError(`plan.operation: expected 'read' or 'write', got ${JSON.stringify(operation)}`)
  }
  if (!Number.isSafeInteger(blockBytes) || blockBytes < 512) {
    throw new RangeError(`plan.blockBytes: expected at least 512, got ${blockBytes}`)
  }
  for (const [name, array] of Object.entries({ slba, blocks, offsetBytes, queue })) {
    if (array.length !== commands)
      throw new RangeError(`plan.${name}: expected ${commands} entries, got ${array.length}`)
  }
  for (let command = 0; command < commands; command++) {
    const problem = problemWith(plan, command, memory, queues)
    if (problem !== undefined) throw new RangeError(`plan command ${command}: expected ${problem}`)
  }
}

function problemWith(plan: Plan, command: number, memory: DmaMemory, queues: readonly PlanQueue[]): string | undefined {
  const slba = plan.slba[command]!
  const blocks = plan.blocks[command]!
  const start = plan.offsetBytes[command]!
  const end = start + blocks * plan.blockBytes
  const queue = queues[plan.queue[command]!]
  if (queue === undefined) return `a queue from 0 to ${queues.length - 1}, got ${plan.queue[command]}`
  if (blocks < 1 || blocks > MAX_BLOCKS_PER_COMMAND) return `1 to ${MAX_BLOCKS_PER_COMMAND} blocks, got ${blocks}`
  if (!Number.isSafeInteger(slba) || slba < 0) return `an LBA below 2^53, got ${slba}`
  if (!Number.isSafeInteger(start) || start < 0 || end > memory.lengthBytes) {
    return `memory of ${memory.lengthBytes} bytes to hold bytes ${start} to ${end}`
  }
  if (memory.iovaAt(start) % 4 !== 0) return `a dword-aligned address for PRP1, got byte ${start} of the memory`
  if (end - start > queue.maxTransferBytes) return `at most ${queue.maxTransferBytes} bytes, got ${end - start}`
  return queue.problem(memory, start, end - start)
}
