import { LoaderError } from '../error.js'
import type { BlockStore, WritableBlockStore } from '../store/store.js'

/** Media, and stores without a `mediumId`, that are being written. */
const inProgress = new Set<unknown>()

/**
 * Runs a packing or a removal unless another one is writing to the same store or file: both would use the same free
 * space and overwrite each other.
 * @throws LoaderError (PACK_IN_PROGRESS)
 */
export async function oneAtATime<T>(store: WritableBlockStore, packing: () => Promise<T>): Promise<T> {
  const medium = store.mediumId ?? store
  if (inProgress.has(medium)) throw packInProgress(store)
  inProgress.add(medium)
  try {
    return await packing()
  } finally {
    inProgress.delete(medium)
  }
}

/** Error of a second change of a store's image in this process. Nothing was written. */
export function packInProgress({ name }: BlockStore): LoaderError {
  const headline = `The image on ${name} is already being changed; nothing was written`
  return new LoaderError('ERR_GPUNVME_PACK_IN_PROGRESS', 'usage', headline, {
    next: 'wait until the other pack() or removeModel() has settled, then try again',
  })
}
