import { GpuNvmeError } from '@gpunvme/nvme-spec/error'
import type { ExecuteOptions } from '@gpunvme/nvme-spec/transport'
import type { BlockStore } from '../store/store.js'
import { isMediaError, readCopies, type SuperblockCopy } from '../image/copies.js'

/**
 * Sees to it that the superblocks are as this packing left them: another process or host may have written to the
 * drive meanwhile, and to the same room. What is published between this look and the publication is not noticed.
 *
 * @param before the copies as they were found, or left.
 * @throws ImageChangedError
 */
export async function refuseIfChanged(
  store: BlockStore,
  before: readonly SuperblockCopy[],
  options: ExecuteOptions,
): Promise<void> {
  const copies = await readCopies(store, options)
  const changed = copies.some((copy, index) => {
    const former = before[index]
    // A copy that cannot be read says nothing of who wrote to it.
    if (isMediaError(copy.problem) || isMediaError(former?.problem)) return false
    return identityOf(copy) !== identityOf(former)
  })
  if (changed) throw new ImageChangedError(store)
}

/** Which publication a copy is of, if any. */
function identityOf(copy: SuperblockCopy | undefined): string {
  if (copy?.superblock === undefined) return copy?.ours === true ? 'unusable' : 'none'
  return `${copy.superblock.generation} ${copy.superblock.imageId}`
}

/** Somebody else published or gave up an image on the store while it was being written to. */
export class ImageChangedError extends GpuNvmeError {
  readonly code = 'ERR_GPUNVME_IMAGE_CHANGED'
  readonly category = 'failure'

  constructor({ name }: BlockStore) {
    super(`Somebody else wrote to ${name} while its image was being changed; this change was not published`, {
      facts: [
        'the superblocks are not those that were found, or left, here',
        'an image that is there now may be damaged: both may have written to the same bytes',
      ],
      next: 'stop other writers of the drive, check it with verifyImage(), then pack again',
    })
  }
}
