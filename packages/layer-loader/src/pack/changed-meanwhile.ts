import { LoaderError } from '../error.js'
import type { ExecuteOptions } from '@gpunvme/nvme-spec/transport'
import type { BlockStore } from '../store/store.js'
import { readCopies, type SuperblockCopy } from '../image/copies.js'
import { isMediaError } from '../image/sealed-record.js'

/**
 * Checks that the superblocks are as this packing left them: another process or host may have written to the drive, and
 * to the same free space. A publication between this check and the next write is not detected.
 *
 * @param before the copies as they were found or written.
 * @throws LoaderError (IMAGE_CHANGED)
 */
export async function refuseIfChanged(
  store: BlockStore,
  before: readonly SuperblockCopy[],
  options: ExecuteOptions,
): Promise<void> {
  const copies = await readCopies(store, options)
  const changed = copies.some((copy, index) => {
    const former = before[index]
    // An unreadable copy does not tell who wrote it.
    if (isMediaError(copy.problem) || isMediaError(former?.problem)) return false
    return identityOf(copy) !== identityOf(former)
  })
  if (changed) throw imageChanged(store)
}

/** Returns the publication that a copy belongs to, if any. */
function identityOf(copy: SuperblockCopy | undefined): string {
  if (copy?.superblock === undefined) return copy?.ours === true ? 'unusable' : 'none'
  return `${copy.superblock.generation} ${copy.superblock.imageId}`
}

/** Error of an image that another process or host published or discarded during a change. */
export function imageChanged({ name }: BlockStore): LoaderError {
  const headline = `Another process or host changed the image on ${name} meanwhile; this change was not published`
  return new LoaderError('ERR_GPUNVME_IMAGE_CHANGED', 'failure', headline, {
    facts: [
      'the superblocks differ from those that were found or written here',
      'the current image may be damaged: both writers may have used the same bytes',
    ],
    next: 'stop other writers to the drive, check it with verifyImage(), then pack again',
  })
}
