import type { HardwareHost } from '@gpunvme/nvme-spec/transport'
import { loadAddon, type HostAddon } from './addon.js'
import { adoptDescriptor } from './adopt.js'
import { HostRegion, mapWith, viewWith } from './host-region.js'

let loaded: HardwareHost | undefined

/**
 * Returns the kernel interface for a driver in user space. Loads the addon gpunvme_host; every thread can call this, and all
 * threads share the same memory.
 * @throws NativeAddonError if the addon cannot be loaded: the paths that were tried, and the command that builds it.
 */
export function loadHardwareHost(): HardwareHost {
  return (loaded ??= hardwareHost(loadAddon()))
}

function hardwareHost(addon: HostAddon): HardwareHost {
  const { ioctl, ioctlNumber, drainEventfd, waitReadable, memlockLimitBytes, punchHole } = addon
  const adopt = (fd: number) => adoptDescriptor(addon, fd)
  return {
    map: mapWith(addon, addon.map),
    allocate(lengthBytes, pageBytes) {
      return new HostRegion(
        addon,
        withinMemlock(addon, pageBytes, () => addon.allocate(lengthBytes, pageBytes)),
      )
    },
    view: viewWith(addon),
    yield: addon.yield,
    eventfd: () => adopt(addon.eventfd()),
    ...{ ioctl, ioctlNumber, adopt, drainEventfd, waitReadable, memlockLimitBytes, punchHole },
  }
}

/** Calls `allocate`, and adds RLIMIT_MEMLOCK to its error: EAGAIN alone would suggest to try again. */
function withinMemlock<T>({ memlockLimitBytes }: HostAddon, pageBytes: number, allocate: () => T): T {
  try {
    return allocate()
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (error instanceof Error && pageBytes === 4096 && (code === 'EAGAIN' || code === 'EPERM')) {
      error.message += `: RLIMIT_MEMLOCK limits this process to ${memlockLimitBytes()} locked bytes; raise it with ulimit -l`
    }
    throw error
  }
}
