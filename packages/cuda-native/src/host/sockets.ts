import type { SocketHost } from '@gpunvme/nvme-spec/transport'
import type { HostAddon } from './addon.js'
import { adoptDescriptor, adoptReceived } from './adopt.js'

/** Returns the sockets of the addon. Descriptors are adopted: `fs.close` and the end of the thread close them. */
export function socketHost(addon: HostAddon): SocketHost {
  const { send, poll } = addon
  return {
    listen: (path) => adoptDescriptor(addon, ofPath(path, addon.listen)),
    accept(listener) {
      const fd = addon.accept(listener)
      return fd < 0 ? undefined : adoptDescriptor(addon, fd)
    },
    connect: (path) => adoptDescriptor(addon, ofPath(path, addon.connect)),
    receive(socket, into, descriptors, kinds) {
      const length = addon.receive(socket, into, descriptors)
      if (descriptors[0]! > 0) adoptReceived(addon, descriptors, kinds)
      return length
    },
    ...{ send, poll },
  }
}

/** Calls `open`, and adds the path to its error, as `fs` does. */
function ofPath(path: string, open: (path: string) => number): number {
  try {
    return open(path)
  } catch (error) {
    if (error instanceof Error && 'syscall' in error) {
      error.message += ` '${path}'`
      Object.assign(error, { path })
    }
    throw error
  }
}
