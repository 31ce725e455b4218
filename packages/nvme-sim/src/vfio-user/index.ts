/**
 * A vfio-user server: presents the simulated controller as a PCI function to other programs over a Unix domain socket.
 * Clients are QEMU 10.1 and later (`vfio-user-pci`), SPDK, and host-driver's `vfio-user` transport.
 * @module
 */
export type { VfioUserServerOptions } from './options.js'
export { VfioUserServerError } from './server-thread.js'
export { removeSocket, VfioUserSocketError } from './socket-path.js'
export { startVfioUserServer, type VfioUserServer } from './start.js'
export type { VfioUserStatistics } from './statistics.js'
export type { TraceFileOptions } from './trace-file.js'
