import type { Device } from '../controller/device.js'
import type { Namespace } from '../nvm/namespace.js'
import type { Struck } from './struck.js'

/** What of the commands under way a namespace that is detached needs. */
interface Commands {
  endAll(namespace: Namespace): void
}

/** Changes namespaces behind the host's back, as another host might; what is so already, or cannot be, does not strike. */
export function changeNamespaces(struck: Struck, device: Device, commands: Commands): void {
  const { namespaces, faults } = device
  const detached = namespaces.getAllocated(struck.get('detach-namespace')?.nsid ?? 0)
  if (detached?.isAttached) {
    faults.happened(struck, 'detach-namespace')
    commands.endAll(detached)
    namespaces.setAttached(detached, false)
    device.namespaceChanged(detached.nsid)
  }
  const attached = namespaces.getAllocated(struck.get('attach-namespace')?.nsid ?? 0)
  if (attached && !attached.isAttached) {
    faults.happened(struck, 'attach-namespace')
    namespaces.setAttached(attached, true)
    device.namespaceChanged(attached.nsid)
  }
  const { nsid = 0, blocks = 0 } = struck.get('resize-namespace') ?? {}
  const resized = namespaces.getAllocated(nsid)
  if (resized && blocks * (resized.blockBytes + resized.metadataBytes) <= resized.capacityBytes) {
    faults.happened(struck, 'resize-namespace')
    resized.blocks = blocks
    device.namespaceChanged(nsid)
  }
}
