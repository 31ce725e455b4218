import type { HardwareHost, NativeHost, VfioUserHost } from '@gpunvme/nvme-spec/transport'
import { loadAddon, type HostAddon } from './addon.js'
import { adoptDescriptor } from './adopt.js'
import { mapWith, viewWith } from './host-region.js'
import { socketHost } from './sockets.js'

/** With holes in files, and the one thing of a `HardwareHost` that a client needs which waits for interrupts. */
export type LoadedSocketHost = VfioUserHost &
  Required<Pick<NativeHost, 'punchHole'>> &
  Pick<HardwareHost, 'waitReadable'>

let loaded: LoadedSocketHost | undefined

/**
 * Sockets that carry descriptors, and what else the two ends of vfio-user need, over the addon gpunvme_host. Each thread
 * of the process may load it.
 * @throws NativeAddonError where there is none for this machine: what was tried, and the command that builds it.
 */
export function loadSocketHost(): LoadedSocketHost {
  return (loaded ??= vfioUserHost(loadAddon()))
}

function vfioUserHost(addon: HostAddon): LoadedSocketHost {
  const { waitReadable, signalEventfd, drainEventfd, lostForeignBytes, punchHole } = addon
  return {
    view: viewWith(addon),
    yield: addon.yield,
    eventfd: () => adoptDescriptor(addon, addon.eventfd()),
    mapForeign: mapWith(addon, addon.mapForeign),
    ...{ waitReadable, signalEventfd, drainEventfd, lostForeignBytes, punchHole },
    ...socketHost(addon),
  }
}
