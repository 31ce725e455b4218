import { GpuNvmeError } from '@gpunvme/nvme-spec/error'
import type { BlockStore } from '../store/store.js'

const inProgress = new WeakSet<BlockStore>()

/**
 * Runs a packing or a removal unless another one is writing to the same store: both would use the same free space and
 * overwrite each other.
 * @throws PackInProgressError
 */
export async function oneAtATime<T>(store: BlockStore, packing: () => Promise<T>): Promise<T> {
  if (inProgress.has(store)) throw new PackInProgressError(store)
  inProgress.add(store)
  try {
    return await packing()
  } finally {
    inProgress.delete(store)
  }
}

/** Error of a second change of a store's image in this process. Nothing was written. */
export class PackInProgressError extends GpuNvmeError {
  readonly code = 'ERR_GPUNVME_PACK_IN_PROGRESS'
  readonly category = 'usage'

  constructor({ name }: BlockStore) {
    super(`The image on ${name} is already being changed; nothing was written`, {
      next: 'wait until the other pack() or removeModel() has settled, then try again',
    })
  }
}
