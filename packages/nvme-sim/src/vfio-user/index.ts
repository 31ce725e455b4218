/**
 * A vfio-user server: the simulated controller as a PCI function for programs that know nothing of it, over a Unix domain
 * socket. QEMU 10.1 and later has the client (`vfio-user-pci`), SPDK has one, and host-driver's `vfio-user` transport is one.
 * @module
 */
export type { VfioUserServerOptions } from './options.js'
export { VfioUserServerError } from './server-thread.js'
export { removeSocket, VfioUserSocketError } from './socket-path.js'
export { startVfioUserServer, type VfioUserServer } from './start.js'
export type { VfioUserStatistics } from './statistics.js'
export type { TraceFileOptions } from './trace-file.js'
