import { MAX_BLOCKS_PER_COMMAND } from '@gpunvme/nvme-spec'
import type { Plan } from '@gpunvme/nvme-spec/transport'

/** A run of logical blocks, and where in memory its bytes belong. */
export interface Transfer {
  readonly slba: number
  readonly blocks: number
  readonly offsetBytes: number
}

export interface PlanShape {
  readonly operation: 'read' | 'write'
  readonly nsid: number
  readonly blockBytes: number
  readonly maxTransferBytes: number
  /** I/O queue pairs to spread the commands over. */
  readonly queues: number
}

/**
 * Splits transfers into commands of at most `maxTransferBytes`, dealt to the queues in turn. Pure: the same
 * transfers give the same plan.
 * @throws RangeError for a transfer of no blocks, or of anything but safe non-negative integers.
 */
export function planTransfers(shape: PlanShape, transfers: readonly Transfer[]): Plan {
  const { operation, nsid, blockBytes, maxTransferBytes, queues } = shape
  const perCommand = Math.min(Math.floor(maxTransferBytes / blockBytes), MAX_BLOCKS_PER_COMMAND)
  if (perCommand < 1)
    throw new RangeError(
      `maximum transfer: expected at least one block of ${blockBytes} bytes, got ${maxTransferBytes}`,
    )
  let commands = 0
  for (const { slba, blocks, offsetBytes } of transfers) {
    const sound = [slba, blocks, offsetBytes, slba + blocks].every((n) => Number.isSafeInteger(n) && n >= 0)
    if (!sound || blocks === 0) {
      throw new RangeError(
        `transfer: expected an LBA and at least 1 block, got SLBA ${slba}, ${blocks} blocks, offset ${offsetBytes}`,
      )
    }
    commands += Math.ceil(blocks / perCommand)
  }
  const plan = {
    operation,
    nsid,
    blockBytes,
    commands,
    slba: new Float64Array(commands),
    blocks: new Uint32Array(commands),
    offsetBytes: new Float64Array(commands),
    queue: new Uint16Array(commands),
  }
  let index = 0
  for (const { slba, blocks, offsetBytes } of transfers) {
    for (let done = 0; done < blocks; done += perCommand, index++) {
      plan.slba[index] = slba + done
      plan.blocks[index] = Math.min(perCommand, blocks - done)
      plan.offsetBytes[index] = offsetBytes + done * blockBytes
      plan.queue[index] = index % queues
    }
  }
  return plan
}
