import { GpuNvmeError } from '@gpunvme/nvme-spec'
import { isMediaError } from '../image/copies.js'
import { CHUNK_BYTES, DATA_START_BYTES, type Extent } from '../image/format.js'
import { openImage } from '../image/open-image.js'
import type { BlockStore } from '../store/store.js'

/** Where a new image begins, and what becomes of the one that it replaces. */
export interface Room {
  readonly startBytes: number
  /** The live image stays whole until the new one is published. */
  readonly keepsLive: boolean
}

/**
 * Finds room for an image: where it leaves the live one whole, or else, since the caller has agreed to replace it,
 * at the start.
 * @param live everything that the live image occupies; empty when there is none.
 * @throws NamespaceTooSmallError
 */
export function findRoom(imageBytes: number, capacityBytes: number, live: readonly Extent[]): Room {
  const fits = (startBytes: number, endBytes: number) => imageBytes <= endBytes - startBytes
  if (!fits(DATA_START_BYTES, capacityBytes)) throw new NamespaceTooSmallError(imageBytes, capacityBytes)
  const liveStart = live.reduce((least, { offsetBytes }) => Math.min(least, offsetBytes), capacityBytes)
  if (fits(DATA_START_BYTES, liveStart)) return { startBytes: DATA_START_BYTES, keepsLive: true }
  const liveEnd = live.reduce((most, { offsetBytes, lengthBytes }) => Math.max(most, offsetBytes + lengthBytes), 0)
  const afterLive = Math.ceil(liveEnd / CHUNK_BYTES) * CHUNK_BYTES
  if (fits(afterLive, capacityBytes)) return { startBytes: afterLive, keepsLive: true }
  return { startBytes: DATA_START_BYTES, keepsLive: false }
}

/** What the live image occupies; undefined where there is one that cannot be used, so that nothing is left to keep. */
export async function findLive(store: BlockStore): Promise<readonly Extent[] | undefined> {
  try {
    return (await openImage(store)).extents
  } catch (error) {
    const unusable = error instanceof GpuNvmeError && ['verification', 'infeasible'].includes(error.category)
    if (unusable || isMediaError(error)) return undefined
    throw error
  }
}

/** The model does not fit on the namespace. Nothing was written. */
export class NamespaceTooSmallError extends GpuNvmeError {
  readonly code = 'ERR_GPUNVME_NAMESPACE_TOO_SMALL'
  readonly category = 'infeasible'
  readonly neededBytes: number
  readonly availableBytes: number

  constructor(imageBytes: number, capacityBytes: number) {
    const neededBytes = DATA_START_BYTES + imageBytes
    super('The model does not fit on the namespace', {
      facts: [
        `needed: ${neededBytes} bytes, of which ${DATA_START_BYTES} for the superblocks`,
        `available: ${capacityBytes} bytes`,
      ],
      next: 'use a larger namespace, or a model of fewer or smaller tensors',
    })
    this.neededBytes = neededBytes
    this.availableBytes = capacityBytes
  }
}
