import type { HardwareHost } from '@gpunvme/nvme-spec/transport'
import { loadAddon, type HostAddon } from './addon.js'
import { adoptDescriptor } from './adopt.js'
import { HostRegion, mapWith, viewWith } from './host-region.js'

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
