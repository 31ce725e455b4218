import { MAX_BLOCKS_PER_COMMAND } from '@gpunvme/nvme-spec'
import type { DmaMemory, Plan } from '@gpunvme/nvme-spec/transport'
import type { Lane } from './lane.js'

/**
 * Refuses a plan that would have the controller touch memory outside `memory`, or needs more than the queues have.
 * Every plan passes here, whoever made it, before its first command is staged.
 * @throws TypeError, RangeError naming the command.
 */
export function checkPlan(plan: Plan, memory: DmaMemory, lanes: readonly Lane[]): void {
  const { operation, blockBytes, commands, slba, blocks, offsetBytes, queue } = plan
  if (lanes.length === 0) throw new TypeError('this engine has no queues: attach() them first')
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
    const problem = problemWith(plan, command, memory, lanes)
    if (problem !== undefined) throw new RangeError(`plan command ${command}: expected ${problem}`)
  }
}

function problemWith(plan: Plan, command: number, memory: DmaMemory, lanes: readonly Lane[]): string | undefined {
  const slba = plan.slba[command]!
  const blocks = plan.blocks[command]!
  const start = plan.offsetBytes[command]!
  const end = start + blocks * plan.blockBytes
  const lane = lanes[plan.queue[command]!]
  if (lane === undefined) return `a queue from 0 to ${lanes.length - 1}, got ${plan.queue[command]}`
  if (blocks < 1 || blocks > MAX_BLOCKS_PER_COMMAND) return `1 to ${MAX_BLOCKS_PER_COMMAND} blocks, got ${blocks}`
  if (!Number.isSafeInteger(slba) || slba < 0) return `an LBA below 2^53, got ${slba}`
  if (!Number.isSafeInteger(start) || start < 0 || end > memory.lengthBytes) {
    return `memory of ${memory.lengthBytes} bytes to hold bytes ${start} to ${end}`
  }
  if (memory.iovaAt(start) % 4 !== 0) return `a dword-aligned address for PRP1, got byte ${start} of the memory`
  if (end - start > lane.maxTransferBytes) return `at most ${lane.maxTransferBytes} bytes, got ${end - start}`
  return lane.pointer.problem(memory, start, end - start)
}
