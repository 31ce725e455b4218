import { countOf, SQE, STATUS, type StatusCode } from '@gpunvme/nvme-spec'
import type { ServedCommand } from '../controller/command.js'
import type { Device } from '../controller/device.js'
import { hex } from '../controller/diagnostics.js'
import type { MemoryAccess } from '../memory/reachable.js'
import { BROADCAST_NSID } from './namespaces.js'

// Checks of NVM commands before data move. They return undefined on success. PRINFO and the tags are not checked, since
// no format has protection information: they are ignored (NVM 1.2 §2.1.5). So are directives, of which none is enabled
// (Base 2.3 §8.1.9).

const { PRP, SGL_SEGMENT_MPTR } = SQE.PSDT

/** Checks that the namespace is active (Base 2.1 §4.1.1, Figure 92). */
export function prepareNamespace(command: ServedCommand, { namespaces }: Device): StatusCode | undefined {
  const nsid = command.sqe.NSID
  command.namespace = namespaces.get(nsid)
  if (command.namespace !== undefined) return undefined
  const known = namespaces.isValid(nsid) || nsid === BROADCAST_NSID
  return known ? STATUS.INVALID_FIELD_IN_COMMAND : STATUS.INVALID_NAMESPACE_OR_FORMAT
}

/** Checks the blocks of a command with SLBA and NLB that moves no data. */
export function prepareRange(command: ServedCommand, device: Device): StatusCode | undefined {
  const fault = prepareNamespace(command, device)
  if (fault) return fault
  const { SLBA, NLB, CETYPE } = command.readWrite
  const blocks = countOf(NLB)
  // An SLBA of 2^53 or more is inexact, but still beyond any namespace.
  if (SLBA + blocks > command.namespace!.blocks) return STATUS.LBA_OUT_OF_RANGE
  command.slba = SLBA
  command.blocks = blocks
  if (CETYPE !== 0)
    device.diagnostics.report(
      'ignored-setting',
      `CETYPE is ${CETYPE}h, but no namespace supports Key Per I/O: it is ignored`,
    )
  return undefined
}

/** Whether blocks of a command no longer exist: a namespace may have shrunk since the command began. */
export function areBlocksGone({ namespace, slba, blocks, ranges }: ServedCommand): boolean {
  if (namespace === undefined) return false
  const end = namespace.blocks
  if (slba + blocks > end) return true
  for (let i = 0; i < ranges.length; i += 2) if (ranges[i]! + ranges[i + 1]! > end) return true
  return false
}

/** Checks a command that moves blocks between host and namespace. */
export function prepareBlocks(command: ServedCommand, device: Device): StatusCode | undefined {
  const fault = prepareRange(command, device)
  if (fault) return fault
  const { blockBytes, metadataBytes, isExtended } = command.namespace!
  const lengthBytes = command.blocks * (isExtended ? blockBytes + metadataBytes : blockBytes)
  // MDTS includes metadata that is part of the blocks (CTRATT.MEM is 0), but not in a separate buffer.
  if (lengthBytes > device.maxTransferBytes) return STATUS.INVALID_FIELD_IN_COMMAND
  const misled = prepareData(command, device, lengthBytes)
  if (misled || metadataBytes === 0 || isExtended) return misled
  return prepareMetadata(command, device, command.blocks * metadataBytes)
}

/** Checks a command that moves blocks to the namespace. */
export function prepareWrite(command: ServedCommand, device: Device): StatusCode | undefined {
  return prepareBlocks(command, device) ?? prepareChange(command)
}

/** Checks that the namespace is writable. */
export function prepareChange({ namespace }: ServedCommand): StatusCode | undefined {
  return namespace!.takesChanges ? undefined : STATUS.NAMESPACE_IS_WRITE_PROTECTED
}

/** Returns how a command's data access host memory. */
export function accessOf({ handler }: Pick<ServedCommand, 'handler'>): MemoryAccess {
  return handler?.direction === 'to-host' ? 'write' : 'read'
}

/** Checks that the data pointer leads to `lengthBytes` of memory, by PRPs or by an SGL. */
export function prepareData(command: ServedCommand, device: Device, lengthBytes: number): StatusCode | undefined {
  const { sqe, runs, data } = command
  command.lengthBytes = lengthBytes
  const access = accessOf(command)
  if (sqe.PSDT === PRP)
    return device.prps.walk(command, sqe.PRP1, sqe.PRP2, lengthBytes, device.pageBytes, runs, access)
  if (sqe.PSDT > SGL_SEGMENT_MPTR) return STATUS.INVALID_FIELD_IN_COMMAND
  const fault = device.sgls.walkData(command, data, lengthBytes, access, runs)
  command.lengthBytes -= runs.discardedBytes
  return fault
}

/**
 * Checks that MPTR leads to `lengthBytes` of memory: a contiguous buffer, or with PSDT 10b an SGL (Base 2.1 §4.1.1).
 */
function prepareMetadata(command: ServedCommand, device: Device, lengthBytes: number): StatusCode | undefined {
  const { metadataRuns: runs, sqe } = command
  const { PSDT, MPTR } = sqe
  if (PSDT === SGL_SEGMENT_MPTR) {
    const fault = device.sgls.walkMetadata(command, MPTR, lengthBytes, accessOf(command), runs)
    command.lengthBytes += lengthBytes - runs.discardedBytes
    return fault
  }
  runs.clear()
  // With PRPs the buffer must be dword-aligned; with an SGL any alignment is valid, as reported in SGLS.MBA.
  if (PSDT === PRP && MPTR % 4 !== 0) {
    device.diagnostics.report(
      'data-pointer',
      `${command.describe()}: MPTR ${hex(MPTR)} is not dword aligned (Base 2.1 §4.1.1)`,
    )
    return STATUS.INVALID_FIELD_IN_COMMAND
  }
  const access = accessOf(command)
  if (!device.memory.has(MPTR, lengthBytes, access)) {
    const why = device.memory.explainUnmapped(MPTR, lengthBytes, access)
    device.diagnostics.report(
      'unmapped-memory',
      `${command.describe()}: MPTR ${hex(MPTR)}, ${lengthBytes} bytes: ${why}`,
    )
    return STATUS.DATA_TRANSFER_ERROR
  }
  runs.add(MPTR, lengthBytes)
  command.lengthBytes += lengthBytes
  return undefined
}
