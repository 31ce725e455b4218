import { closeSync, openSync } from 'node:fs'
import type { DescriptorKinds } from '@gpunvme/nvme-spec/transport'
import type { HostAddon } from './addon.js'

/**
 * Makes `fs.close`, and the end of this thread, close a descriptor. Returns its new number. Node.js closes only descriptors
 * that `fs` has opened, and warns about others: `fs` opens /dev/null, and the adopted file takes its place.
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

/**
 * Adopts the `descriptors[0]` descriptors that follow, in place. If one cannot be adopted, closes all of them.
 * @param kinds see `SocketHost.receive`.
 */
export function adoptReceived(addon: HostAddon, descriptors: Int32Array, kinds: DescriptorKinds = 'all'): void {
  const count = descriptors[0]!
  for (let index = 1; index <= count; index++) {
    try {
      const fd = descriptors[index]!
      descriptors[index] =
        kinds === 'all' || addon.neverWaits(fd) ? adoptDescriptor(addon, fd) : replaceReceived(addon, fd)
    } catch (error) {
      // This descriptor is already closed. Those before it are adopted.
      for (let other = 1; other < index; other++) closeSync(descriptors[other]!)
      for (let other = index + 1; other <= count; other++) addon.closeReceived(descriptors[other]!)
      descriptors[0] = 0
      throw error
    }
  }
}

/** Closes a descriptor and opens /dev/null in its place. Moving the descriptor instead would also wait for its file system. */
function replaceReceived(addon: HostAddon, fd: number): number {
  addon.closeReceived(fd)
  return openSync('/dev/null', 'r')
}
