import {
  countOf,
  CreateIoCq,
  CreateIoSq,
  DeleteIoCq,
  DeleteIoSq,
  FID,
  NumberOfQueues,
  SetFeatures,
  zeroBased,
} from '@gpunvme/nvme-spec'
import type { CompletionQueueMemory, QueuePairMemory } from '@gpunvme/nvme-spec/transport'
import type { CommandQueue } from '../commands/command-queue.js'

/**
 * Requests I/O submission and completion queues; returns the numbers that the controller allows, which may be larger.
 */
export async function negotiateQueues(
  admin: CommandQueue,
  submission: number,
  completion: number,
): Promise<{ readonly submission: number; readonly completion: number }> {
  const request = NumberOfQueues.CDW11.encode({ NSQR: zeroBased(submission), NCQR: zeroBased(completion) })
  const { NSQA, NCQA } = NumberOfQueues.DW0.decode(
    await admin.execute(SetFeatures, { FID: FID.NUMBER_OF_QUEUES, CDW11: request }),
  )
  return { submission: countOf(NSQA), completion: countOf(NCQA) }
}

/** Creates a completion queue. @param vector interrupt of its completions. Default: none. */
export async function createCompletionQueue(
  admin: CommandQueue,
  { cqid, entries, memory }: CompletionQueueMemory,
  vector?: number,
): Promise<void> {
  const interrupt = vector === undefined ? {} : ({ IEN: 1, IV: vector } as const)
  await admin.execute(CreateIoCq, { QID: cqid, QSIZE: zeroBased(entries), PRP1: memory.iovaAt(0), PC: 1, ...interrupt })
}

/** Creates a submission queue, after its completion queue. */
export async function createSubmissionQueue(
  admin: CommandQueue,
  { qid, sqEntries, sq, cq }: QueuePairMemory,
): Promise<void> {
  await admin.execute(CreateIoSq, { QID: qid, QSIZE: zeroBased(sqEntries), PRP1: sq.iovaAt(0), PC: 1, CQID: cq.cqid })
}

/** Deletes a submission queue. After success, none of its commands is in progress. */
export async function deleteSubmissionQueue(
  admin: CommandQueue,
  { qid }: QueuePairMemory,
  timeoutNs?: number,
): Promise<void> {
  await admin.execute(DeleteIoSq, { QID: qid }, { timeoutNs })
}

/** Deletes a completion queue, after its submission queues: one in use cannot be deleted. */
export async function deleteCompletionQueue(
  admin: CommandQueue,
  { cqid }: CompletionQueueMemory,
  timeoutNs?: number,
): Promise<void> {
  await admin.execute(DeleteIoCq, { QID: cqid }, { timeoutNs })
}
