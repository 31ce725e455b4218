import { planTransfers, type PlanShape } from '@gpunvme/host-driver'
import type { Plan } from '@gpunvme/nvme-spec/transport'
import type { Extent } from './image/format.js'

/** What a plan of reads depends on; a `Namespace` is one. */
export type ReadShape = Omit<PlanShape, 'operation'>

/**
 * The commands that read a layer, or any other extent of an image, to `intoBytes` of the memory that the plan is
 * executed on. Pure data: the same extent gives the same plan, whatever has been allocated.
 * Extents of an image start at multiples of 4 KiB and so at a logical block; their last block is read whole.
 */
export function planExtent(namespace: ReadShape, { offsetBytes, lengthBytes }: Extent, intoBytes = 0): Plan {
  const { nsid, blockBytes, maxTransferBytes, queues } = namespace
  const slba = offsetBytes / blockBytes
  const blocks = Math.ceil(lengthBytes / blockBytes)
  const transfers = blocks === 0 ? [] : [{ slba, blocks, offsetBytes: intoBytes }]
  return planTransfers({ operation: 'read', nsid, blockBytes, maxTransferBytes, queues }, transfers)
}
