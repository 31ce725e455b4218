import type { NativeHost } from '@gpunvme/nvme-spec/transport'
import { loadHardwareHost } from './hardware-host.js'

export { NativeAddonError, type TriedAddon } from '../native-addon.js'
export { nativeChecksummer } from './checksummer.js'
export { loadHardwareHost } from './hardware-host.js'

/** This module, for those who must import it in a thread of their own: the `module` of a real-time simulator. */
export const nativeHostModule: URL = new URL(import.meta.url)

/** What such a thread finds here. The addon is loaded at the first call: importing this throws nowhere. */
const nativeHost: NativeHost = {
  view: (address, lengthBytes) => loadHardwareHost().view(address, lengthBytes),
  yield: () => loadHardwareHost().yield(),
}
export default nativeHost
