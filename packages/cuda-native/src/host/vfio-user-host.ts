import type { HardwareHost, NativeHost, VfioUserHost } from '@gpunvme/nvme-spec/transport'
import { loadAddon, type HostAddon } from './addon.js'
import { adoptDescriptor } from './adopt.js'
import { mapWith, viewWith } from './host-region.js'
import { socketHost } from './sockets.js'

/** A `VfioUserHost` with `punchHole`, and with `waitReadable` for clients that wait for interrupts. */
export type LoadedSocketHost = VfioUserHost &
  Required<Pick<NativeHost, 'punchHole'>> &
  Pick<HardwareHost, 'waitReadable'>

let loaded: LoadedSocketHost | undefined

/**
 * Returns sockets that carry descriptors, and the other functions that both ends of vfio-user need. Loads the addon
 * gpunvme_host; every thread can call this.
 * @throws NativeAddonError if the addon cannot be loaded: the paths that were tried, and the command that builds it.
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
