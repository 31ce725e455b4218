import { GpuNvmeError } from '@gpunvme/nvme-spec/error'
import type { BlockStore } from '../store/store.js'

/** @throws UnverifiableMediaError where reads complete without bringing anything. */
export function refuseUnmoved(store: BlockStore): void {
  if (store.movesData === false) throw new UnverifiableMediaError(store)
}

/** The store is simulated on media that move no bytes: what a read leaves in memory is not what was stored. */
export class UnverifiableMediaError extends GpuNvmeError {
  readonly code = 'ERR_GPUNVME_UNVERIFIABLE_MEDIA'
  readonly category = 'infeasible'
  readonly store: string

  constructor({ name }: BlockStore) {
    super(`Nothing that is read from ${name}, or written to it, would be there: it moves no bytes`, {
      facts: ['its transport says so (movesData: false): it is simulated on unverifiableMedia, to model time alone'],
      next: 'execute plans on it to measure; simulate the namespace on RamMedia or fileMedia to load from it',
    })
    this.store = name
  }
}
