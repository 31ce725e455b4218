import { checkOptions } from '../options.js'
import { capacity } from './check.js'
import type { Media } from './media.js'

/** Options of media that move no data. */
export interface UnverifiableMediaOptions {
  /** Size of the namespace in bytes. */
  readonly capacityBytes: number
}

/**
 * Returns media that move no bytes, for modelling long transfers cheaply: a Read leaves host memory unchanged, and
 * written data are dropped. Reads and writes take their modelled time, but their data mean nothing:
 * `transport.movesData` is false, and code that returns data must refuse the transport. Compare and Verify end with
 * Unrecovered Read Error, since there are no bytes to check.
 * @throws RangeError or TypeError if the capacity is not a whole number of at least 512 bytes.
 */
export function unverifiableMedia(options: UnverifiableMediaOptions): Media {
  checkOptions<UnverifiableMediaOptions>('unverifiableMedia', options, { capacityBytes: capacity })
  const { capacityBytes } = options
  const nothing = (): void => undefined
  const methods = { read: nothing, write: nothing, deallocate: nothing, flush: nothing, close: nothing }
  return { capacityBytes, movesData: false, ...methods }
}
