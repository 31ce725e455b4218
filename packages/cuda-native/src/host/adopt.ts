import { closeSync, openSync } from 'node:fs'
import type { HostAddon } from './addon.js'

/**
 * A thread that ends closes the descriptors that its `fs` has opened, and `fs.close` warns there of any other: so one of
 * these is opened, and what is adopted takes its place.
 */
export function adoptDescriptor(addon: HostAddon, fd: number): number {
  let place: number | undefined
  try {
    place = openSync('/dev/null', 'r')
    return addon.move(fd, place)
  } catch (error) {
    for (const each of [place, fd]) if (each !== undefined) closeSync(each)
    throw error
  }
}

/** Adopts the `descriptors[0]` descriptors that follow, in place. Where one cannot be, all are closed. */
export function adoptReceived(addon: HostAddon, descriptors: Int32Array): void {
  const count = descriptors[0]!
  for (let index = 1; index <= count; index++) {
    try {
      descriptors[index] = adoptDescriptor(addon, descriptors[index]!)
    } catch (error) {
      // This one is closed already.
      for (let other = 1; other <= count; other++) if (other !== index) closeSync(descriptors[other]!)
      descriptors[0] = 0
      throw error
    }
  }
}
