import { Compare, STATUS, Write, type StatusCode } from '@gpunvme/nvme-spec'
import type { ServedCommand } from '../controller/command.js'

/**
 * Combines two commands to a fused operation. Only Compare and Write is supported (NVM 1.2 §2.1.3); both halves of any
 * other are rejected.
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

/** Returns why two prepared halves cannot be fused: both must have the same range of blocks (NVM 1.2 §2.1.3.1). */
export function fusedMistake(first: ServedCommand, second: ServedCommand): StatusCode | undefined {
  if (first.result !== undefined || second.result !== undefined) return undefined
  const isSame = first.namespace === second.namespace && first.slba === second.slba && first.blocks === second.blocks
  return isSame ? undefined : STATUS.INVALID_FIELD_IN_COMMAND
}
