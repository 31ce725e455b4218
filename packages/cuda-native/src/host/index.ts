import type { VfioUserHost } from '@gpunvme/nvme-spec/transport'
import { loadSocketHost } from './vfio-user-host.js'

export { NativeAddonError, type TriedAddon } from '../native-addon.js'
export { nativeChecksummer } from './checksummer.js'
export { nativeFileReader } from './file-reader.js'
export { loadHardwareHost } from './hardware-host.js'
export { loadSocketHost, type LoadedSocketHost } from './vfio-user-host.js'

/** URL of this module, which other threads can import: the option `module` of a real-time simulator. */
export const nativeHostModule: URL = new URL(import.meta.url)

/** The functions for such a thread. The addon is loaded at the first call, so importing this module never throws. */
const nativeHost: VfioUserHost = {
  view: (address, lengthBytes) => loadSocketHost().view(address, lengthBytes),
  yield: () => loadSocketHost().yield(),
  punchHole: (fd, offsetBytes, lengthBytes) => loadSocketHost().punchHole(fd, offsetBytes, lengthBytes),
  eventfd: () => loadSocketHost().eventfd(),
  mapForeign: (fd, offsetBytes, lengthBytes, access) =>
    loadSocketHost().mapForeign(fd, offsetBytes, lengthBytes, access),
  lostForeignBytes: () => loadSocketHost().lostForeignBytes(),
  signalEventfd: (fd) => {
    loadSocketHost().signalEventfd(fd)
  },
  drainEventfd: (fd) => loadSocketHost().drainEventfd(fd),
  listen: (path) => loadSocketHost().listen(path),
  accept: (listener) => loadSocketHost().accept(listener),
  connect: (path) => loadSocketHost().connect(path),
  receive: (socket, into, descriptors, kinds) => loadSocketHost().receive(socket, into, descriptors, kinds),
  send: (socket, bytes, descriptors, timeoutNs) => loadSocketHost().send(socket, bytes, descriptors, timeoutNs),
  poll: (descriptors, timeoutNs) => loadSocketHost().poll(descriptors, timeoutNs),
}
export default nativeHost
