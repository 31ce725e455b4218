import { GpuNvmeError } from '@gpunvme/nvme-spec/error'
import type { BlockStore } from '../store/store.js'
import { DATA_START_BYTES } from './format.js'
import type { Remedy } from './remedy.js'

/** Error of a store that ends before its image: an incomplete copy, or a copy to a smaller drive. */
export class ImageTruncatedError extends GpuNvmeError {
  readonly code = 'ERR_GPUNVME_IMAGE_TRUNCATED'
  readonly category = 'verification'
  readonly remedy: Remedy = 'replace-image'
  readonly availableBytes: number
  /** Required length; undefined if the store is too short for any image and the rest does not record the length. */
  readonly neededBytes: number | undefined

  constructor({ name, capacityBytes }: BlockStore, neededBytes?: number) {
    const needed = neededBytes ?? `more than ${DATA_START_BYTES}`
    super(`The image on ${name} is truncated: ${capacityBytes} of ${needed} bytes are present`, {
      facts:
        neededBytes === undefined
          ? ['it starts with the magic of an image']
          : [`its superblock is valid, with USED_END ${neededBytes}`],
      next:
        'use the complete drive or file that the image was written to; ' +
        "or pack the models again, the first with { replace: 'image' }, which discards the image",
    })
    this.availableBytes = capacityBytes
    this.neededBytes = neededBytes
  }
}
