/**
 * QEMU's own NVMe controller as a transport, with no guest: its processor is stopped, registers are lines to its test
 * server over two FIFOs, and guest RAM is a file. It needs Linux and QEMU 7.2 or newer; neither privileges nor KVM.
 */
export { type Qemu, type QemuController, type QemuVram } from './machine.js'
export {
  type BlockNode,
  type QemuControllerOptions,
  type QemuNamespaceOptions,
  type QemuOptions,
  type QemuZones,
} from './options.js'
export { type QemuExit } from './process.js'
export { qemuIsInstalled, qemuProgram } from './program.js'
export { type QemuVersion } from './qmp.js'
export { startQemu } from './start.js'
