import { GpuNvmeError } from '@gpunvme/nvme-spec/error'
import type { BlockStore } from '../store/store.js'
import { DATA_START_BYTES } from './format.js'
import type { Remedy } from './remedy.js'

/** The store ends before the image on it does: a copy that was cut off, or one onto a smaller drive. */
export class ImageTruncatedError extends GpuNvmeError {
  readonly code = 'ERR_GPUNVME_IMAGE_TRUNCATED'
  readonly category = 'verification'
  readonly remedy: Remedy = 'replace-image'
  readonly availableBytes: number
  /** Undefined where the store is too short for any image, and what is left does not say how long this one is. */
  readonly neededBytes: number | undefined

  constructor({ name, capacityBytes }: BlockStore, neededBytes?: number) {
    const needed = neededBytes ?? `more than ${DATA_START_BYTES}`
    super(`The image on ${name} is cut off: ${capacityBytes} of ${needed} bytes are there`, {
      facts:
        neededBytes === undefined
          ? ['it starts as an image does']
          : [`its superblock is sound, and has USED_END ${neededBytes}`],
      next:
        'use the whole of the drive or file that the image was written to; ' +
        "or pack the models again, the first with { replace: 'image' }, which gives up all",
    })
    this.availableBytes = capacityBytes
    this.neededBytes = neededBytes
  }
}
