import { closeSync, openSync } from 'node:fs'
import type { HardwareHost } from '@gpunvme/nvme-spec/transport'
import { loadAddon, type HostAddon } from './addon.js'
import { HostRegion } from './host-region.js'

let loaded: HardwareHost | undefined

/**
 * What a driver in user space needs of the kernel, over the addon gpunvme_host. Each thread of the process may load
 * it; all of them know the same memory.
 * @throws NativeAddonError where there is none for this machine: what was tried, and the command that builds it.
 */
export function loadHardwareHost(): HardwareHost {
  return (loaded ??= hardwareHost(loadAddon()))
}

function hardwareHost(addon: HostAddon): HardwareHost {
  const { view, ioctl, ioctlNumber, waitReadable, memlockLimitBytes } = addon
  const adopt = (fd: number) => adoptDescriptor(addon, fd)
  return {
    map(fd, offsetBytes, lengthBytes, access) {
      // A slip must not be taken for the more dangerous of the two.
      if (!['read', 'read-write'].includes(access)) {
        throw new TypeError(`access: expected 'read' or 'read-write', got ${JSON.stringify(access)}`)
      }
      return new HostRegion(addon, addon.map(fd, offsetBytes, lengthBytes, access === 'read-write'))
    },
    allocate(lengthBytes, pageBytes) {
      return new HostRegion(
        addon,
        withinMemlock(addon, pageBytes, () => addon.allocate(lengthBytes, pageBytes)),
      )
    },
    yield: addon.yield,
    eventfd: () => adopt(addon.eventfd()),
    ...{ view, ioctl, ioctlNumber, adopt, waitReadable, memlockLimitBytes },
  }
}

/** The same error, which says what the limit is: the code alone, EAGAIN, sounds as if trying again helped. */
function withinMemlock<T>({ memlockLimitBytes }: HostAddon, pageBytes: number, allocate: () => T): T {
  try {
    return allocate()
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (error instanceof Error && pageBytes === 4096 && (code === 'EAGAIN' || code === 'EPERM')) {
      error.message += `: RLIMIT_MEMLOCK lets this process lock ${memlockLimitBytes()} bytes in all; ulimit -l raises it`
    }
    throw error
  }
}

/**
 * A thread that ends closes the descriptors that its `fs` has opened, and `fs.close` warns there of any other: so one of
 * these is opened, and what is adopted takes its place.
 */
function adoptDescriptor(addon: HostAddon, fd: number): number {
  let place: number | undefined
  try {
    place = openSync('/dev/null', 'r')
    return addon.move(fd, place)
  } catch (error) {
    for (const each of [place, fd]) if (each !== undefined) closeSync(each)
    throw error
  }
}
