import { resolve } from 'node:path'
import { type Invocation, shellLine } from '../terminal/invocation.js'
import { typed } from '../command-line/next-step.js'

/** The first QEMU with the device vfio-user-pci. */
const QEMU_VERSION = '10.1'

/**
 * Returns the QEMU command line that attaches the drive to a guest. Guest memory must be a shared file, which the drive
 * maps; without share=on, the drive would not respond.
 */
export function qemuLine(socket: string): string {
  return shellLine(qemuWords(socket))
}

/** Printed when the server accepts clients: how to start a guest, and other clients. */
export function howToConnect(socket: string, invocation: Invocation): readonly string[] {
  return [
    `Start a guest with it (QEMU ${QEMU_VERSION} or later; add your guest's disk or kernel):`,
    `  ${qemuLine(socket)}`,
    `Or, from another terminal: ${typed({ command: ['nvme', 'identify', '--socket', socket] }, invocation)}`,
  ]
}

/** The command as words, for JSON. */
export function qemuWords(socket: string): readonly string[] {
  // QEMU may be started in another directory.
  const path = resolve(socket)
  return [
    'qemu-system-x86_64',
    ...['-machine', 'q35,accel=kvm:tcg,memory-backend=ram'],
    ...['-m', '1G'],
    ...['-object', 'memory-backend-memfd,id=ram,size=1G,share=on'],
    ...['-device', JSON.stringify({ driver: 'vfio-user-pci', socket: { type: 'unix', path } })],
  ]
}
