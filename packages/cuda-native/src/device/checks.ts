import { prpListReach } from '@gpunvme/nvme-spec'
import { MOST_IN_FLIGHT } from '@gpunvme/nvme-spec/engine'
import type { QueuePairMemory } from '@gpunvme/nvme-spec/transport'

/** NLB has 16 bits and is 0's based. */
const MAX_BLOCKS = 65_536
/** The broadcast value FFFFFFFFh is not a namespace. */
const MAX_NSID = 0xffff_fffe

/** Properties of a namespace, as the namespaces of host-driver have. */
export interface NamespaceFacts {
  readonly nsid: number
  /** Number of logical blocks. */
  readonly blocks: number
  /** Bytes of a logical block. */
  readonly blockBytes: number
  /** Maximum transfer of one command, in bytes. */
  readonly maxTransferBytes: number
}

/** Checks that kernels can share these queues. @throws RangeError, TypeError that name the option to change. */
export function checkQueues(queues: readonly QueuePairMemory[]): void {
  for (const { qid, sqEntries, cq, maxInFlight } of queues) {
    if (queues.filter((other) => other.cq === cq).length > 1) {
      throw new TypeError(
        `queue ${qid}: expected a completion queue of its own, got a shared one; omit completionQueues in Controller.open`,
      )
    }
    if (!isPowerOfTwo(sqEntries)) {
      const next = 2 ** Math.ceil(Math.log2(sqEntries))
      throw new RangeError(
        `queue ${qid}: expected a power of two as the number of entries, got ${sqEntries}; ` +
          `pass { queueEntries: ${next}, queueDepth: ${Math.ceil((next * 3) / 4)} } to Controller.open`,
      )
    }
    if (cq.entries !== sqEntries) {
      throw new RangeError(
        `queue ${qid}: expected a completion queue of ${sqEntries} entries, like its submission queue, got ${cq.entries}; ` +
          'pass a queueDepth below queueEntries to Controller.open',
      )
    }
    const most = Math.min(sqEntries - 1, MOST_IN_FLIGHT)
    if (maxInFlight < 1 || maxInFlight > most) {
      throw new RangeError(
        `queue ${qid}: expected 1 to ${most} commands in flight with ${sqEntries} entries, got ${maxInFlight}; ` +
          'pass another queueDepth to Controller.open',
      )
    }
  }
}

/**
 * Checks a namespace. Returns the maximum number of blocks per command, which the controller's maximum transfer, the PRP lists
 * of the queues and the width of NLB limit.
 * @throws RangeError
 */
export function maxBlocksOf(name: string, namespace: NamespaceFacts, queues: readonly QueuePairMemory[]): number {
  const { nsid, blocks, blockBytes, maxTransferBytes } = namespace
  const fail = (what: string, expected: string, got: number) => {
    throw new RangeError(`${name}.${what}: expected ${expected}, got ${got}`)
  }
  if (!Number.isInteger(nsid) || nsid < 1 || nsid > MAX_NSID) fail('nsid', `an integer from 1 to ${MAX_NSID}`, nsid)
  if (!Number.isSafeInteger(blocks) || blocks < 1) fail('blocks', 'a whole number of 1 or more', blocks)
  if (!isPowerOfTwo(blockBytes) || blockBytes < 512) {
    fail('blockBytes', 'a power of two of 512 or more: format the namespace without metadata in its blocks', blockBytes)
  }
  const most = queues.reduce(
    (least, { prpListBytes, pageBytes }) =>
      Math.min(least, Math.floor(prpListReach(prpListBytes, pageBytes) / blockBytes)),
    Math.min(MAX_BLOCKS, Math.floor(maxTransferBytes / blockBytes)),
  )
  if (!(most >= 1)) {
    fail(
      'maxTransferBytes',
      `at least one block of ${blockBytes} bytes: raise maxTransferBytes in Controller.open`,
      maxTransferBytes,
    )
  }
  return most
}

function isPowerOfTwo(value: number): boolean {
  return Number.isSafeInteger(value) && value >= 2 && Number.isInteger(Math.log2(value))
}
