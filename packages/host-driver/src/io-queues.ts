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
import type { QueuePairMemory } from '@gpunvme/nvme-spec/transport'
import type { CommandQueue } from './command-queue.js'

/** Asks for `wanted` I/O queue pairs, and gives how many of them the controller allows. */
export async function negotiateQueues(admin: CommandQueue, wanted: number): Promise<number> {
  const request = NumberOfQueues.CDW11.encode({ NSQR: zeroBased(wanted), NCQR: zeroBased(wanted) })
  const { NSQA, NCQA } = NumberOfQueues.DW0.decode(
    await admin.execute(SetFeatures, { FID: FID.NUMBER_OF_QUEUES, CDW11: request }),
  )
  return Math.min(wanted, countOf(NSQA), countOf(NCQA))
}

/** Creates the pair on the controller: the completion queue first, since the submission queue names it. */
export async function createQueuePair(
  admin: CommandQueue,
  { qid, sqEntries, cqEntries, sq, cq }: QueuePairMemory,
): Promise<void> {
  await admin.execute(CreateIoCq, { QID: qid, QSIZE: zeroBased(cqEntries), PRP1: cq.iovaAt(0), PC: 1 })
  await admin.execute(CreateIoSq, { QID: qid, QSIZE: zeroBased(sqEntries), PRP1: sq.iovaAt(0), PC: 1, CQID: qid })
}

/** Deletes the pair: the submission queue first, since a completion queue in use cannot be deleted. */
export async function deleteQueuePair(admin: CommandQueue, { qid }: QueuePairMemory): Promise<void> {
  await admin.execute(DeleteIoSq, { QID: qid })
  await admin.execute(DeleteIoCq, { QID: qid })
}
