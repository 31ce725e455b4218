import type { SocketHost } from '@gpunvme/nvme-spec/transport'
import type { HostAddon } from './addon.js'
import { adoptDescriptor, adoptReceived } from './adopt.js'

/** Sockets over the addon: what it opens is adopted here, so that `fs.close` closes it and the end of its thread does. */
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

/** The same error, which says of which path, as those of `fs` do. */
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
