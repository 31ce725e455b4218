import { prpListMaxTransfer } from '@gpunvme/nvme-spec'
import type { QueuePairMemory } from '@gpunvme/nvme-spec/transport'
import { isPowerOfTwo } from '../arguments.js'

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
  const max = queues.reduce(
    (min, { prpListBytes, pageBytes }) =>
      Math.min(min, Math.floor(prpListMaxTransfer(prpListBytes, pageBytes) / blockBytes)),
    Math.min(MAX_BLOCKS, Math.floor(maxTransferBytes / blockBytes)),
  )
  if (!(max >= 1)) {
    fail(
      'maxTransferBytes',
      `at least one block of ${blockBytes} bytes: raise maxTransferBytes in Controller.open`,
      maxTransferBytes,
    )
  }
  return max
}
