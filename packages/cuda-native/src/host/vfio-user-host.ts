import type { VfioUserHost } from '@gpunvme/nvme-spec/transport'
import { loadAddon, type HostAddon } from './addon.js'
import { adoptDescriptor } from './adopt.js'
import { mapWith } from './host-region.js'
import { socketHost } from './sockets.js'

let loaded: VfioUserHost | undefined

/**
 * Sockets that carry descriptors, and what else the two ends of vfio-user need, over the addon gpunvme_host. Each thread
 * of the process may load it.
 * @throws NativeAddonError where there is none for this machine: what was tried, and the command that builds it.
 */
export function loadSocketHost(): VfioUserHost {
  return (loaded ??= vfioUserHost(loadAddon()))
}

function vfioUserHost(addon: HostAddon): VfioUserHost {
  return {
    view: addon.view,
    yield: addon.yield,
    eventfd: () => adoptDescriptor(addon, addon.eventfd()),
    mapForeign: mapWith(addon, addon.map),
    ...socketHost(addon),
  }
}
