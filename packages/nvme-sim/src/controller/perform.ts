import { Read, SQE, STATUS, Write, type StatusCode } from '@gpunvme/nvme-spec'
import { performAdmin } from '../admin/admin.js'
import { corruptAnswer, performDamaged } from '../faults/damage.js'
import { accessOf, areBlocksGone } from '../nvm/checks.js'
import { fusedMistake } from '../nvm/fused.js'
import type { IoCommand } from '../nvm/io-command.js'
import type { CommandsUnderWay, ServedCommand } from './command.js'
import type { Device } from './device.js'
import { hex } from './diagnostics.js'

// Execution of commands when their time has passed: they take effect at once and have a result.

/** Executes a command that has no result yet. If it has none afterwards either, it is to be continued. */
export function perform(command: ServedCommand, device: Device, commands: CommandsUnderWay): void {
  if (command.result !== undefined) return
  if (!command.isAdmin()) {
    performIo(command, device)
    return
  }
  command.result = performAdmin(command, device, commands)
  if (command.matched !== undefined) corruptAnswer(command, command.matched, device)
}

/** Executes both halves of a fused operation, in order. */
export function performFused(first: ServedCommand, second: ServedCommand, device: Device): void {
  const mistake = fusedMistake(first, second)
  if (mistake) {
    first.refuse(mistake)
    second.refuse(mistake)
  }
  if (first.result === undefined) performIo(first, device)
  // The completion of the Compare does not report a failure of the Write (NVM 1.2 §2.1.3.1).
  if (first.result !== STATUS.SUCCESS && !mistake) second.result = STATUS.COMMAND_ABORTED_DUE_TO_FAILED_FUSED_COMMAND
  else if (second.result === undefined) performIo(second, device)
}

/** The halves of a fused operation in order. */
export function inOrder(one: ServedCommand, other: ServedCommand): readonly [ServedCommand, ServedCommand] {
  return one.sqe.FUSE === SQE.FUSE.FIRST ? [one, other] : [other, one]
}

function performIo(command: ServedCommand, device: Device): void {
  const { diagnostics, features } = device
  const { matched, sqe } = command
  const handler = command.handler!
  if (areBlocksGone(command)) {
    command.result = STATUS.LBA_OUT_OF_RANGE
    return
  }
  try {
    if (matched === undefined) command.result = handler.perform(command, device)
    else {
      performDamaged(command, matched, device, () => {
        command.result = handler.perform(command, device)
      })
    }
    // Without a cache, changes are on the medium when the command completes (Base 2.3 §5.2.26.1.4).
    const isDone = command.result === STATUS.SUCCESS
    if (!features.volatileWriteCache && isDone && handler.effects?.LBCC === 1) command.namespace!.media.flush()
  } catch (error) {
    command.result = statusOf(error, handler)
    if (command.result === STATUS.DATA_TRANSFER_ERROR)
      diagnostics.report('unmapped-memory', `the host's memory: ${String(error)}`)
    else diagnostics.report('media', `media of namespace ${sqe.NSID}: ${String(error)}`)
  }
  if (command.result === STATUS.SUCCESS) noteData(command, device)
  else if (command.result === STATUS.DATA_TRANSFER_ERROR) reportLoss(command, device)
}

/** Returns the status for an error thrown by media. A system call on unmapped memory is not a media error. */
function statusOf(error: unknown, { work }: IoCommand): StatusCode {
  if ((error as NodeJS.ErrnoException | undefined)?.code === 'EFAULT') return STATUS.DATA_TRANSFER_ERROR
  return work === 'read' ? STATUS.UNRECOVERED_READ_ERROR : STATUS.WRITE_FAULT
}

/** All pointers were valid when the command began: reports which memory is gone since. */
function reportLoss(command: ServedCommand, { memory, diagnostics }: Device): void {
  const access = accessOf(command)
  for (const runs of [command.runs, command.metadataRuns]) {
    for (let i = 0; i < runs.count; i++) {
      const [iova, lengthBytes] = [runs.iova[i]!, runs.lengthBytes[i]!]
      if (runs.isDiscarded(i) || memory.has(iova, lengthBytes, access)) continue
      const reason = memory.explainUnmapped(iova, lengthBytes, access)
      diagnostics.report(
        'unmapped-memory',
        `${command.describe()}: ${hex(iova)}, ${lengthBytes} bytes: ${reason} while the command was in progress`,
      )
      return
    }
  }
}

/** Counts and traces the data of a successful command. */
function noteData({ namespace, blocks, lengthBytes, sqe, handler, runs, metadataRuns }: ServedCommand, device: Device) {
  const { counters, trace } = device
  if (namespace) counters.ioBytes[sqe.OPC]! += blocks * namespace.blockBytes
  const { direction } = handler!
  if (lengthBytes === 0 || direction === 'none') return
  for (let i = 0; i < runs.count; i++) {
    if (!runs.isDiscarded(i)) trace.data(direction, runs.iova[i]!, runs.lengthBytes[i]!)
  }
  for (let i = 0; i < metadataRuns.count; i++) {
    trace.data(direction, metadataRuns.iova[i]!, metadataRuns.lengthBytes[i]!)
  }
  if (sqe.OPC === Read.opcode) counters.bytesRead += lengthBytes
  else if (sqe.OPC === Write.opcode) counters.bytesWritten += lengthBytes
}
