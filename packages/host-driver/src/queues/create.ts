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

/** Asks for so many I/O submission and completion queues, and gives how many the controller allows, which may be more. */
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

/** @param vector the interrupt of its completions; none when not given. */
export async function createCompletionQueue(
  admin: CommandQueue,
  { cqid, entries, memory }: CompletionQueueMemory,
  vector?: number,
): Promise<void> {
  const interrupt = vector === undefined ? {} : ({ IEN: 1, IV: vector } as const)
  await admin.execute(CreateIoCq, { QID: cqid, QSIZE: zeroBased(entries), PRP1: memory.iovaAt(0), PC: 1, ...interrupt })
}

/** After the completion queue that it names. */
export async function createSubmissionQueue(
  admin: CommandQueue,
  { qid, sqEntries, sq, cq }: QueuePairMemory,
): Promise<void> {
  await admin.execute(CreateIoSq, { QID: qid, QSIZE: zeroBased(sqEntries), PRP1: sq.iovaAt(0), PC: 1, CQID: cq.cqid })
}

/** Once this has succeeded, nothing that the queue was asked for goes on. */
export async function deleteSubmissionQueue(
  admin: CommandQueue,
  { qid }: QueuePairMemory,
  timeoutNs?: number,
): Promise<void> {
  await admin.execute(DeleteIoSq, { QID: qid }, { timeoutNs })
}

/** After the submission queues that complete to it: one in use cannot be deleted. */
export async function deleteCompletionQueue(
  admin: CommandQueue,
  { cqid }: CompletionQueueMemory,
  timeoutNs?: number,
): Promise<void> {
  await admin.execute(DeleteIoCq, { QID: cqid }, { timeoutNs })
}
