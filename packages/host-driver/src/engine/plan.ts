import { MAX_BLOCKS_PER_COMMAND } from '@gpunvme/nvme-spec'
import type { Plan } from '@gpunvme/nvme-spec/transport'

/** A range of logical blocks, and the position of its data in memory. */
export interface Transfer {
  /** First LBA. */
  readonly slba: number
  /** Number of blocks, at least 1. */
  readonly blocks: number
  /** Offset of the data in the memory. */
  readonly offsetBytes: number
}

/** Parameters of splitting transfers into commands. */
export interface PlanShape {
  readonly operation: 'read' | 'write'
  readonly nsid: number
  readonly blockBytes: number
  readonly maxTransferBytes: number
  /** Number of I/O queue pairs over which the commands are spread. */
  readonly queues: number
  /** Number of blocks between boundaries, counted from LBA 0, that no command crosses. Default: no boundaries. */
  readonly boundaryBlocks?: number | undefined
}

/**
 * Splits transfers into commands of at most `maxTransferBytes` that cross no boundary, and assigns them to the queues
 * in turn. Equal arguments give equal plans.
 * @throws RangeError for a transfer of no blocks, or with anything but safe non-negative integers.
 */
export function planTransfers(shape: PlanShape, transfers: readonly Transfer[]): Plan {
  const { operation, nsid, blockBytes, maxTransferBytes, queues, boundaryBlocks = Number.MAX_SAFE_INTEGER } = shape
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
    const first = Math.min(blocks, boundaryBlocks - (slba % boundaryBlocks))
    const periods = Math.floor((blocks - first) / boundaryBlocks)
    const last = blocks - first - periods * boundaryBlocks
    const inPeriod = periods === 0 ? 0 : periods * Math.ceil(boundaryBlocks / perCommand)
    commands += Math.ceil(first / perCommand) + inPeriod + Math.ceil(last / perCommand)
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
    const end = slba + blocks
    for (let at = slba; at < end; at += plan.blocks[index++]!) {
      plan.slba[index] = at
      plan.blocks[index] = Math.min(perCommand, end - at, boundaryBlocks - (at % boundaryBlocks))
      plan.offsetBytes[index] = offsetBytes + (at - slba) * blockBytes
      plan.queue[index] = index % queues
    }
  }
  return plan
}
