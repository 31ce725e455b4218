import { cqHeadDoorbell, prpListBytes, sqTailDoorbell } from '@gpunvme/nvme-spec'
import type { DmaAllocator, QueuePairMemory } from '@gpunvme/nvme-spec/transport'
import { hostView } from './queue-pair.js'

const SQE_BYTES = 64
const CQE_BYTES = 16

export interface QueueShape {
  readonly qid: number
  readonly entries: number
  readonly dstrd: number
  readonly pageBytes: number
  /** The largest transfer of a command on this queue. */
  readonly maxTransferBytes: number
}

/** Memory for a queue pair, its PRP lists included: one pool each, so that nothing is mapped command by command. */
export function allocateQueuePair(dma: DmaAllocator, shape: QueueShape): QueuePairMemory {
  const { qid, entries, dstrd, pageBytes, maxTransferBytes } = shape
  const ring = { contiguous: true, alignBytes: pageBytes }
  const listBytes = prpListBytes(maxTransferBytes, pageBytes)
  const sq = dma.alloc(wholePages(entries * SQE_BYTES, pageBytes), ring)
  // An entry that is fetched before it was written is then an opcode no controller knows, and is answered with an
  // error. The completion queue starts as zeroes: there a set Phase Tag would mean "completed" on the first lap.
  const view = hostView(sq)
  new Uint8Array(view.buffer, view.byteOffset, view.byteLength).fill(0xff)
  return {
    qid,
    sqEntries: entries,
    cqEntries: entries,
    sq,
    cq: dma.alloc(wholePages(entries * CQE_BYTES, pageBytes), ring),
    prpLists: dma.alloc(Math.max(pageBytes, (entries - 1) * listBytes), { alignBytes: pageBytes }),
    prpListBytes: listBytes,
    pageBytes,
    sqTailDoorbell: sqTailDoorbell(qid, dstrd),
    cqHeadDoorbell: cqHeadDoorbell(qid, dstrd),
    sqTail: 0,
    cqHead: 0,
    phase: 1,
  }
}

function wholePages(bytes: number, pageBytes: number): number {
  return Math.ceil(bytes / pageBytes) * pageBytes
}
