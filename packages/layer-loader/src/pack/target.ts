import { GpuNvmeError } from '@gpunvme/nvme-spec/error'
import type { ExecuteOptions } from '@gpunvme/nvme-spec/transport'
import { readCopies, type SuperblockCopy } from '../image/copies.js'
import { isMediaError } from '../image/sealed-record.js'
import { openImage, type Image } from '../image/open-image.js'
import type { BlockStore } from '../store/store.js'

/** State of a store before packing. */
export interface Target<S extends BlockStore = BlockStore> {
  readonly store: S
  readonly copies: readonly SuperblockCopy[]
  /** Absent without an image, and for an unusable one. */
  readonly image: Image | undefined
  /** Whether there is an image, or remains of one, that cannot be kept. */
  readonly isUnusable: boolean
}

/** Examines a store. @throws errors of reading it except media errors. */
export async function survey<S extends BlockStore>(store: S, options?: ExecuteOptions): Promise<Target<S>> {
  const copies = await readCopies(store, options)
  const isOccupied = copies.some(({ ours }) => ours)
  const image = isOccupied ? await usableImage(store, options) : undefined
  // The copies that the image was opened by are newer.
  return { store, copies: image?.copies ?? copies, image, isUnusable: isOccupied && image === undefined }
}

async function usableImage(store: BlockStore, options?: ExecuteOptions): Promise<Image | undefined> {
  try {
    return await openImage(store, options)
  } catch (error) {
    const isUnusable = error instanceof GpuNvmeError && ['verification', 'infeasible'].includes(error.category)
    if (isUnusable || isMediaError(error)) return undefined
    throw error
  }
}
