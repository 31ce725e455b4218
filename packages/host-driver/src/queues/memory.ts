import { cqHeadDoorbell, prpListBytes, shadowCqHead, shadowSqTail, sqTailDoorbell } from '@gpunvme/nvme-spec'
import { MAX_IN_FLIGHT } from '@gpunvme/nvme-spec/engine'
import type { CompletionQueueMemory, DmaAllocator, QueuePairMemory, ShadowDoorbell } from '@gpunvme/nvme-spec/transport'
import { fillMemory, hostBytes } from '../memory/reachable.js'

const SQE_BYTES = 64
const CQE_BYTES = 16

/** Settings that all queues of a controller share. */
export interface QueueSetting {
  /** CAP.DSTRD */
  readonly dstrd: number
  readonly pageBytes: number
  /** Maximum transfer of a command. */
  readonly maxTransferBytes: number
  /** Location of rings and PRP lists. Default: host memory. */
  readonly where?: 'host' | 'gpu' | undefined
  readonly sgl?: 'byte' | 'dword' | undefined
  /** The buffers of Doorbell Buffer Config. */
  readonly shadow?: Omit<ShadowDoorbell, 'offsetBytes'> | undefined
}

export interface QueueShape {
  readonly qid: number
  readonly sqEntries: number
  /** Maximum number of commands in flight. */
  readonly depth: number
}

/** Allocates memory for a completion queue. */
export function allocateCompletionQueue(
  dma: DmaAllocator,
  { dstrd, pageBytes, shadow, where = 'host' }: QueueSetting,
  cqid: number,
  entries: number,
): CompletionQueueMemory {
  return {
    cqid,
    entries,
    memory: dma.alloc(wholePages(entries * CQE_BYTES, pageBytes), { contiguous: true, alignBytes: pageBytes, where }),
    headDoorbell: cqHeadDoorbell(cqid, dstrd),
    ...(shadow && { shadow: { ...shadow, offsetBytes: shadowCqHead(cqid, dstrd) } }),
    head: 0,
    phase: 1,
  }
}

/** Allocates memory for a submission queue and its PRP lists: one pool each, so that nothing is mapped per command. */
export function allocateQueuePair(
  dma: DmaAllocator,
  { dstrd, pageBytes, maxTransferBytes, sgl, shadow, where = 'host' }: QueueSetting,
  { qid, sqEntries, depth }: QueueShape,
  cq: CompletionQueueMemory,
): QueuePairMemory {
  // With one command fewer in flight than a ring has entries, tail never meets head.
  const maxInFlight = Math.min(depth, sqEntries - 1, cq.entries - 1, MAX_IN_FLIGHT)
  // With SGLs, the list must hold a command with several segments of memory, however short the transfers are.
  const listBytes = Math.max(prpListBytes(maxTransferBytes, pageBytes), sgl === undefined ? 0 : pageBytes)
  const pair: QueuePairMemory = {
    qid,
    sqEntries,
    sq: dma.alloc(wholePages(sqEntries * SQE_BYTES, pageBytes), { contiguous: true, alignBytes: pageBytes, where }),
    cq,
    maxInFlight,
    prpLists: dma.alloc(Math.max(pageBytes, maxInFlight * listBytes), { alignBytes: pageBytes, where }),
    prpListBytes: listBytes,
    pageBytes,
    ...(sgl && { sgl }),
    sqTailDoorbell: sqTailDoorbell(qid, dstrd),
    ...(shadow && { shadow: { ...shadow, offsetBytes: shadowSqTail(qid, dstrd) } }),
    sqTail: 0,
    generations: new Uint16Array(maxInFlight),
  }
  rewind(pair)
  return pair
}

/**
 * Resets the rings to their state before the first lap, for a queue that the controller is about to create. Identifiers
 * continue, so that late completions of the previous queue are not taken for new ones.
 */
export function rewind(pair: QueuePairMemory): void {
  const { sq, cq, shadow } = pair
  // An entry that is fetched before it was written has an opcode that no controller knows, and fails. The completion
  // queue starts with zeroes: a set Phase Tag would mean "completed" in the first lap.
  fillMemory(sq, 0xff)
  fillMemory(cq.memory, 0)
  for (const place of [shadow, cq.shadow]) {
    if (place === undefined) continue
    for (const buffer of [place.shadow, place.eventIdx]) {
      hostBytes(buffer, place.offsetBytes, 4).fill(0)
      buffer.forDevice(place.offsetBytes, 4)
    }
  }
  pair.sqTail = 0
  cq.head = 0
  cq.phase = 1
}

function wholePages(bytes: number, pageBytes: number): number {
  return Math.ceil(bytes / pageBytes) * pageBytes
}
