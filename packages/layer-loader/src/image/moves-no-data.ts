import { GpuNvmeError } from '@gpunvme/nvme-spec/error'
import type { BlockStore } from '../store/store.js'

/** @throws UnverifiableMediaError for a store whose reads complete without data. */
export function refuseUnmoved(store: BlockStore): void {
  if (store.movesData === false) throw new UnverifiableMediaError(store)
}

/** Error of a store that is simulated on media without data: reads do not return what was written. */
export class UnverifiableMediaError extends GpuNvmeError {
  readonly code = 'ERR_GPUNVME_UNVERIFIABLE_MEDIA'
  readonly category = 'infeasible'
  readonly store: string

  constructor({ name }: BlockStore) {
    super(`${name} stores no data: it cannot be read or written`, {
      facts: ['it is simulated on unverifiableMedia, which models only time (movesData: false)'],
      next: 'use it only to measure plans; to load from it, simulate the namespace on RamMedia or fileMedia',
    })
    this.store = name
  }
}
