import type { Media } from '../media/media.js'

/** Media that move no bytes: what is read is whatever the host's memory held. Time is all that is asked of them. */
export function unmovedMedia(capacityBytes: number): Media {
  const nothing = (): void => undefined
  return { capacityBytes, read: nothing, write: nothing, flush: nothing, close: nothing }
}
