import { Compare, STATUS, Write, type StatusCode } from '@gpunvme/nvme-spec'
import type { ServedCommand } from '../controller/command.js'

/**
 * Makes two commands the halves of a fused operation. Compare and Write is the only one that there is (NVM 1.2 §2.1.3);
 * both halves of any other are refused.
 */
export function fuse(first: ServedCommand, second: ServedCommand): void {
  if (first.sqe.OPC === Compare.opcode && second.sqe.OPC === Write.opcode) {
    first.partner = second
    second.partner = first
    return
  }
  first.refuse(STATUS.INVALID_FIELD_IN_COMMAND)
  second.refuse(STATUS.INVALID_FIELD_IN_COMMAND)
}

/** Why two halves that were prepared cannot be one operation: it has one range of blocks (NVM 1.2 §2.1.3.1). */
export function fusedMistake(first: ServedCommand, second: ServedCommand): StatusCode | undefined {
  if (first.result !== undefined || second.result !== undefined) return undefined
  const isSame = first.namespace === second.namespace && first.slba === second.slba && first.blocks === second.blocks
  return isSame ? undefined : STATUS.INVALID_FIELD_IN_COMMAND
}
