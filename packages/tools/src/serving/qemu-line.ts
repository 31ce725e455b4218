import { resolve } from 'node:path'
import type { Invocation } from '../command-line/invocation.js'
import { typed } from '../command-line/next-step.js'
import { shellLine } from '../command-line/shell-line.js'

/** The first QEMU that can: the device vfio-user-pci is new in it. */
const QEMU_VERSION = '10.1'

/**
 * The command line that gives the drive to a guest, as a shell takes it. Its memory is a file that both map, which is how
 * the drive reaches it; without share=on the guest would see a drive that answers with nothing.
 */
export function qemuLine(socket: string): string {
  return shellLine(qemuWords(socket))
}

/** What is printed once clients may come: how to start a guest, and what else has the drive. */
export function howToConnect(socket: string, invocation: Invocation): readonly string[] {
  return [
    `Start a guest with it (QEMU ${QEMU_VERSION} or later; add your guest's disk or kernel):`,
    `  ${qemuLine(socket)}`,
    `Or, from another terminal: ${typed({ command: ['identify', '--socket', socket] }, invocation)}`,
  ]
}

/** The same in words, for programs. */
export function qemuWords(socket: string): readonly string[] {
  // QEMU may be started somewhere else.
  const path = resolve(socket)
  return [
    'qemu-system-x86_64',
    ...['-machine', 'q35,accel=kvm:tcg,memory-backend=ram'],
    ...['-m', '1G'],
    ...['-object', 'memory-backend-memfd,id=ram,size=1G,share=on'],
    ...['-device', JSON.stringify({ driver: 'vfio-user-pci', socket: { type: 'unix', path } })],
  ]
}
