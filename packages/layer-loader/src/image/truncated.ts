import { LoaderError } from '../error.js'
import type { BlockStore } from '../store/store.js'
import { DATA_START_BYTES } from './format.js'

/** Error of a store that ends before its image: an incomplete copy, or a copy to a smaller drive. */
export function imageTruncated({ name, capacityBytes }: BlockStore, neededBytes?: number): LoaderError {
  const needed = neededBytes ?? `more than ${DATA_START_BYTES}`
  const headline = `The image on ${name} is truncated: ${capacityBytes} of ${needed} bytes are present`
  return new LoaderError('ERR_GPUNVME_IMAGE_TRUNCATED', 'verification', headline, {
    remedy: 'replace-image',
    facts:
      neededBytes === undefined
        ? ['it starts with the magic of an image']
        : [`its superblock is valid, with USED_END ${neededBytes}`],
    next:
      'use the complete drive or file that the image was written to; ' +
      "or pack the models again, the first with { replace: 'image' }, which discards the image",
  })
}
