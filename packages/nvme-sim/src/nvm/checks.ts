import { countOf, STATUS, type StatusCode } from '@gpunvme/nvme-spec'
import type { ServedCommand } from '../controller/command.js'
import type { Device } from '../controller/device.js'

// What commands of the NVM Command Set have to get right before anything moves. Undefined is success everywhere.

const BROADCAST_NSID = 0xffff_ffff

/** The namespace must be an active one (Base 2.1 §4.1.1, Figure 92). */
export function prepareNamespace(command: ServedCommand, { namespaces }: Device): StatusCode | undefined {
  const nsid = command.sqe.NSID
  command.namespace = namespaces.get(nsid)
  if (command.namespace !== undefined) return undefined
  const known = namespaces.isValid(nsid) || nsid === BROADCAST_NSID
  return known ? STATUS.INVALID_FIELD_IN_COMMAND : STATUS.INVALID_NAMESPACE_OR_FORMAT
}

/** A command with SLBA and NLB that moves no data: its blocks must exist. */
export function prepareRange(command: ServedCommand, device: Device): StatusCode | undefined {
  const fault = prepareNamespace(command, device)
  if (fault) return fault
  const { SLBA, NLB } = command.readWrite
  const blocks = countOf(NLB)
  // An SLBA of 2^53 or more is read inexactly, but still as beyond any namespace.
  if (SLBA + blocks > command.namespace!.blocks) return STATUS.LBA_OUT_OF_RANGE
  command.slba = SLBA
  command.blocks = blocks
  return undefined
}

/** A command that moves its blocks between host and namespace. */
export function prepareBlocks(command: ServedCommand, device: Device): StatusCode | undefined {
  const fault = prepareRange(command, device)
  if (fault) return fault
  // No format here has protection information, so asking for its checks is asking for something else.
  if (command.readWrite.PRINFO !== 0) return STATUS.INVALID_PROTECTION_INFORMATION
  const lengthBytes = command.blocks * command.namespace!.blockBytes
  if (lengthBytes > device.maxTransferBytes) return STATUS.INVALID_FIELD_IN_COMMAND
  return prepareData(command, device, lengthBytes)
}

/** A command that moves its blocks, or only changes them. */
export function prepareWrite(command: ServedCommand, device: Device): StatusCode | undefined {
  return prepareBlocks(command, device) ?? prepareChange(command)
}

/** The namespace must take changes. */
export function prepareChange({ namespace }: ServedCommand): StatusCode | undefined {
  return namespace!.media.readOnly ? STATUS.NAMESPACE_IS_WRITE_PROTECTED : undefined
}

/** The data pointer must lead to `lengthBytes` of memory. */
export function prepareData(
  command: ServedCommand,
  { prps, pageBytes }: Device,
  lengthBytes: number,
): StatusCode | undefined {
  command.lengthBytes = lengthBytes
  const { PRP1, PRP2 } = command.sqe
  return prps.walk(PRP1, PRP2, lengthBytes, pageBytes, command.runs)
}
