import { GpuNvmeError } from '@gpunvme/nvme-spec/error'
import type { ExecuteOptions } from '@gpunvme/nvme-spec/transport'
import { isMediaError, readCopies, type SuperblockCopy } from '../image/copies.js'
import { openImage, type Image } from '../image/open-image.js'
import type { BlockStore } from '../store/store.js'

/** What a packing finds on a store. */
export interface Target<S extends BlockStore = BlockStore> {
  readonly store: S
  readonly copies: readonly SuperblockCopy[]
  /** Absent where there is none, and where there is one that cannot be used. */
  readonly image: Image | undefined
  /** There is an image, or what is left of one, and nothing of it can be kept. */
  readonly isUnusable: boolean
}

/** Looks at a store. @throws what reading it throws, unless it is the media that cannot be read. */
export async function survey<S extends BlockStore>(store: S, options?: ExecuteOptions): Promise<Target<S>> {
  const copies = await readCopies(store, options)
  const isOccupied = copies.some(({ ours }) => ours)
  const image = isOccupied ? await usableImage(store, options) : undefined
  // The image's own look at the copies is the later one: what it was opened by.
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
