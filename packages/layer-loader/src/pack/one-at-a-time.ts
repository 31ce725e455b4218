import { LoaderError } from '../error.js'
import type { BlockStore } from '../store/store.js'

const inProgress = new WeakSet<BlockStore>()

/**
 * Runs a packing or a removal unless another one is writing to the same store: both would use the same free space and
 * overwrite each other.
 * @throws LoaderError (PACK_IN_PROGRESS)
 */
export async function oneAtATime<T>(store: BlockStore, packing: () => Promise<T>): Promise<T> {
  if (inProgress.has(store)) throw packInProgress(store)
  inProgress.add(store)
  try {
    return await packing()
  } finally {
    inProgress.delete(store)
  }
}

/** Error of a second change of a store's image in this process. Nothing was written. */
export function packInProgress({ name }: BlockStore): LoaderError {
  const headline = `The image on ${name} is already being changed; nothing was written`
  return new LoaderError('ERR_GPUNVME_PACK_IN_PROGRESS', 'usage', headline, {
    next: 'wait until the other pack() or removeModel() has settled, then try again',
  })
}
