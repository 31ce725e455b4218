import type { Namespace } from '@gpunvme/host-driver'
import { GpuNvmeError } from '@gpunvme/nvme-spec'

const inProgress = new WeakSet<Namespace>()

/**
 * Runs a packing unless another one is writing to the same namespace: both would find the same room, and each would
 * publish what the other has written over.
 * @throws PackInProgressError
 */
export async function oneAtATime<T>(namespace: Namespace, packing: () => Promise<T>): Promise<T> {
  if (inProgress.has(namespace)) throw new PackInProgressError(namespace)
  inProgress.add(namespace)
  try {
    return await packing()
  } finally {
    inProgress.delete(namespace)
  }
}

/** The namespace is being packed already, by this process. Nothing was written. */
export class PackInProgressError extends GpuNvmeError {
  readonly code = 'ERR_GPUNVME_PACK_IN_PROGRESS'
  readonly category = 'usage'

  constructor({ nsid }: Namespace) {
    super(`A model is being packed to namespace ${nsid} already; nothing was written`, {
      next: 'wait until that pack() has settled, then pack again',
    })
  }
}
