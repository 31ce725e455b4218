import { LoaderError } from '../error.js'
import type { BlockStore } from '../store/store.js'

/** @throws LoaderError (UNVERIFIABLE_MEDIA) for a store whose reads complete without data. */
export function refuseUnmoved(store: BlockStore): void {
  if (store.movesData === false) throw unverifiableMedia(store)
}

/** Error of a store that is simulated on media without data: reads do not return what was written. */
export function unverifiableMedia({ name }: BlockStore): LoaderError {
  const headline = `${name} stores no data: it cannot be read or written`
  return new LoaderError('ERR_GPUNVME_UNVERIFIABLE_MEDIA', 'infeasible', headline, {
    facts: ['it is simulated on unverifiableMedia, which models only time (movesData: false)'],
    next: 'use it only to measure plans; to load from it, simulate the namespace on RamMedia or fileMedia',
  })
}
