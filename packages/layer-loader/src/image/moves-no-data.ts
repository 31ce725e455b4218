import type { Namespace } from '@gpunvme/host-driver'
import { GpuNvmeError } from '@gpunvme/nvme-spec'

/** @throws UnverifiableMediaError where reads complete without bringing anything. */
export function refuseUnmoved(namespace: Namespace): void {
  if (namespace.movesData === false) throw new UnverifiableMediaError(namespace)
}

/** The namespace is simulated on media that move no bytes: what a read leaves in memory is not what was stored. */
export class UnverifiableMediaError extends GpuNvmeError {
  readonly code = 'ERR_GPUNVME_UNVERIFIABLE_MEDIA'
  readonly category = 'infeasible'
  readonly nsid: number

  constructor({ nsid }: Namespace) {
    super(`Namespace ${nsid} moves no bytes: nothing can be read from it, or written to it, that would be there`, {
      facts: ['its transport says so (movesData: false): it is simulated on unverifiableMedia, to model time alone'],
      next: 'execute plans on it to measure; simulate the namespace on RamMedia or fileMedia to load from it',
    })
    this.nsid = nsid
  }
}
