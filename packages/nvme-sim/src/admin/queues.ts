import {
  CC,
  countOf,
  CreateIoCq,
  CreateIoSq,
  DeleteIoCq,
  DeleteIoSq,
  STATUS,
  type StatusCode,
} from '@gpunvme/nvme-spec'
import type { CommandsUnderWay, ServedCommand } from '../controller/command.js'
import type { Device } from '../controller/device.js'
import { hex } from '../controller/diagnostics.js'
import { reportStaleEntries } from '../controller/enable.js'
import type { MemoryAccess } from '../memory/reachable.js'
import { CompletionQueue, CQE_BYTES, SQE_BYTES, SubmissionQueue } from '../queues/queue.js'

/** Create I/O Completion Queue (Base 2.1 §5.2.1). */
export function createCq({ data, sqe }: ServedCommand, device: Device): StatusCode {
  const { QID, QSIZE, PC, IEN, IV } = CreateIoCq.view(data)
  const { queues, memory, configuration, grantedCqs, interrupts, diagnostics, shadow } = device
  if (QID === 0 || QID > grantedCqs || queues.cq(QID)) return STATUS.INVALID_QUEUE_IDENTIFIER
  // The vector must be in the MSI-X table, even if unused (PCIe 1.2 Figure 7).
  const vector = interrupts.vector(IV)
  if (vector === undefined) return STATUS.INVALID_INTERRUPT_VECTOR
  const entries = countOf(QSIZE)
  const entryBytesAreSet = 2 ** CC.IOCQES.of(configuration) === CQE_BYTES
  const fault = queueFault(sqe.PRP1, entries * CQE_BYTES, 'write', entries, PC, entryBytesAreSet, device)
  if (fault) return fault
  const pieces = memory.pieces(sqe.PRP1, entries * CQE_BYTES, 'write')!
  const cq = new CompletionQueue(QID, entries, sqe.PRP1, pieces, IEN === 1 ? vector : undefined)
  reportStaleEntries(cq, diagnostics)
  shadow?.attach(cq)
  queues.addCq(cq)
  return STATUS.SUCCESS
}

/** Create I/O Submission Queue (Base 2.1 §5.2.2). */
export function createSq({ data, sqe }: ServedCommand, device: Device): StatusCode {
  const { QID, QSIZE, PC, QPRIO, CQID } = CreateIoSq.view(data)
  const { queues, memory, configuration, grantedSqs, grantedCqs, shadow } = device
  if (QID === 0 || QID > grantedSqs || queues.sq(QID)) return STATUS.INVALID_QUEUE_IDENTIFIER
  if (CQID === 0 || CQID > grantedCqs) return STATUS.INVALID_QUEUE_IDENTIFIER
  const cq = queues.cq(CQID)
  if (cq === undefined) return STATUS.COMPLETION_QUEUE_INVALID
  const entries = countOf(QSIZE)
  const entryBytesAreSet = 2 ** CC.IOSQES.of(configuration) === SQE_BYTES
  const fault = queueFault(sqe.PRP1, entries * SQE_BYTES, 'read', entries, PC, entryBytesAreSet, device)
  if (fault) return fault
  const pieces = memory.pieces(sqe.PRP1, entries * SQE_BYTES)!
  const sq = new SubmissionQueue(QID, entries, sqe.PRP1, pieces, cq, QPRIO)
  shadow?.attach(sq)
  queues.addSq(sq)
  return STATUS.SUCCESS
}

/** Delete I/O Submission Queue (Base 2.1 §5.2.4). */
export function deleteSq({ data }: ServedCommand, { queues }: Device, commands: CommandsUnderWay): StatusCode {
  const { QID } = DeleteIoSq.view(data)
  const sq = queues.sq(QID)
  if (QID === 0 || sq === undefined) return STATUS.INVALID_QUEUE_IDENTIFIER
  commands.deleteSq(sq)
  return STATUS.SUCCESS
}

/** Delete I/O Completion Queue (Base 2.1 §5.2.3). */
export function deleteCq({ data }: ServedCommand, { queues }: Device): StatusCode {
  const { QID } = DeleteIoCq.view(data)
  const cq = queues.cq(QID)
  if (QID === 0 || cq === undefined) return STATUS.INVALID_QUEUE_IDENTIFIER
  if (cq.submissionQueues > 0) return STATUS.INVALID_QUEUE_DELETION
  queues.removeCq(cq)
  return STATUS.SUCCESS
}

/** Checks common to both kinds of queue. */
function queueFault(
  iova: number,
  lengthBytes: number,
  access: MemoryAccess,
  entries: number,
  contiguous: 0 | 1,
  entryBytesAreSet: boolean,
  { maxQueueEntries, pageBytes, memory, diagnostics }: Device,
): StatusCode | undefined {
  // A queue of one entry could not hold any: it is full with one entry less than its size (Base 2.1 §3.3.1.5).
  if (entries < 2 || entries > maxQueueEntries || !entryBytesAreSet) return STATUS.INVALID_QUEUE_SIZE
  // CAP.CQR is 1: queues must be contiguous.
  if (contiguous === 0) return STATUS.INVALID_FIELD_IN_COMMAND
  if (iova % pageBytes !== 0) return STATUS.PRP_OFFSET_INVALID
  if (memory.has(iova, lengthBytes, access)) return undefined
  diagnostics.report(
    'queue-memory',
    `a queue of ${entries} entries at ${hex(iova)}: ${memory.explainUnmapped(iova, lengthBytes, access)}`,
  )
  return STATUS.DATA_TRANSFER_ERROR
}
