import { checkOptions } from '../options.js'
import { capacity } from './check.js'
import type { Media } from './media.js'

/** What media that move nothing have to say. */
export interface UnverifiableMediaOptions {
  /** Size of the namespace in bytes. */
  readonly capacityBytes: number
}

/**
 * Media that move no bytes, for modelling long transfers at little cost: a Read leaves the host's memory as it is, and
 * what is written is forgotten. Reads and writes complete in their time and mean nothing: `transport.movesData` is false
 * where a namespace has such media, and whoever hands out data must refuse. Compare and Verify would have to speak about
 * bytes that are not there: they end with Unrecovered Read Error.
 * @throws RangeError or TypeError for a capacity that is not a whole number of at least 512 bytes.
 */
export function unverifiableMedia(options: UnverifiableMediaOptions): Media {
  checkOptions<UnverifiableMediaOptions>('unverifiableMedia', options, { capacityBytes: capacity })
  const { capacityBytes } = options
  const nothing = (): void => undefined
  const methods = { read: nothing, write: nothing, deallocate: nothing, flush: nothing, close: nothing }
  return { capacityBytes, movesData: false, ...methods }
}
