import type { ErrorCategory } from '@gpunvme/nvme-spec'
import type { HardwareHost } from '@gpunvme/nvme-spec/transport'
import { DriverError, hasCode } from '../../error.js'
import { KMOD, Release, SetBusMaster, type KmodRequest } from './abi.js'

/** An open node of the module. Once `isOpen` is false, its number may be that of another file. */
export interface KmodNode {
  readonly host: HardwareHost
  readonly bdf: string
  readonly path: string
  readonly fd: number
  isOpen: boolean
}

/** Maximum number of repetitions of a request that signals interrupt. */
const MAX_INTERRUPTIONS = 100

/**
 * Calls ioctl(2) with a structure, which then holds the answer.
 * @throws TypeError if the node is closed; DriverError: KMOD_REMOVED if the controller is gone, KMOD for every other
 *   refusal.
 */
export function call(node: KmodNode, request: KmodRequest, argument: DataView): void {
  checkOpen(node)
  const { host, bdf, fd } = node
  for (let interruptions = 0; ; interruptions++) {
    try {
      host.ioctl(fd, KMOD[request], new Uint8Array(argument.buffer, argument.byteOffset, argument.byteLength))
      return
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      if (code === undefined || code.startsWith('ERR_')) throw error
      if (code === 'EINTR' && interruptions < MAX_INTERRUPTIONS) continue
      if (code === 'ENODEV') throw kmodRemoved(bdf, error)
      throw kmodRefused(bdf, request, code, error)
    }
  }
}

/** @throws TypeError once the node is closed. */
export function checkOpen({ bdf, isOpen }: KmodNode): void {
  if (!isOpen) throw new TypeError(`the transport of ${bdf} is closed`)
}

/** Enables or disables bus mastering. @throws as `call` */
export function setBusMaster(node: KmodNode, isOn: boolean): void {
  call(node, 'SET_BUS_MASTER', SetBusMaster.create({ SIZE: SetBusMaster.bytes, ENABLE: Number(isOn) }).data)
}

/**
 * Frees memory. The kernel has already freed that of a removed controller.
 * @throws as `call`, but not KMOD_REMOVED
 */
export function releaseHandle(node: KmodNode, handle: number): void {
  unlessRemoved(() => call(node, 'RELEASE', Release.create({ SIZE: Release.bytes, HANDLE: handle }).data))
}

/** Runs an action, and ignores the error of a removed controller. */
export function unlessRemoved(action: () => void): void {
  try {
    action()
  } catch (error) {
    if (!hasCode(error, 'ERR_GPUNVME_KMOD_REMOVED')) throw error
  }
}

/** Meaning, next step and category of each errno of the module. */
const MEANINGS: Readonly<Record<string, readonly [says: string, next: string, category: ErrorCategory]>> = {
  EAGAIN: [
    'another process is resetting or removing the device',
    'retry when the reset or removal has finished (see dmesg)',
    'device',
  ],
  E2BIG: ['the module is older than this program', 'build and load the matching module: kmod/README.md', 'infeasible'],
  EBADF: ['the descriptor is not open, or of the wrong kind', 'pass an open descriptor of the right kind', 'usage'],
  EBUSY: [
    'the reset would affect other functions, or the memory is still mapped',
    "use reset('function'), or unmap the memory first",
    'infeasible',
  ],
  EEXIST: ['the vector already has an eventfd', 'close the transport and open it again', 'failure'],
  EFAULT: [
    'the memory is unmapped, read-only or not ordinary memory',
    'pass memory that the native host has allocated',
    'failure',
  ],
  EINTR: ['interrupted by signals repeatedly', 'retry when the signals have stopped', 'failure'],
  EINVAL: ['the module rejected an argument', 'load the matching module: kmod/README.md', 'failure'],
  EIO: [
    'the controller does not respond',
    'check the kernel log (dmesg); power-cycle the drive, then open it again',
    'device',
  ],
  EMEDIUMTYPE: ['the descriptor is not a dma-buf', 'pass the descriptor that the exporter returned', 'usage'],
  EMFILE: ['65536 memory handles are in use', 'free memory, or allocate it in larger pieces', 'infeasible'],
  ENOENT: ['no such memory handle', 'close the transport and open it again', 'failure'],
  ENOMEM: [
    'the kernel is out of such memory',
    'allocate less, or compact free memory: echo 1 > /proc/sys/vm/compact_memory',
    'infeasible',
  ],
  ENOSPC: ['the number of segments grew with each attempt', 'use huge pages: { hugePages: true }', 'infeasible'],
  ENOTTY: [
    'the file is not a node of the module gpunvme, or the module is too old',
    'pass /dev/gpunvme0 or a PCI address',
    'usage',
  ],
  EOPNOTSUPP: [
    'not supported by the kernel or by the exporter of the memory',
    'check the kernel log (dmesg): the controller may be unable to address the memory, or may have no path to the GPU',
    'infeasible',
  ],
  EOVERFLOW: ['more than 4 GiB at once, or beyond the end of the address space', 'allocate less at once', 'usage'],
  EPERM: [
    'the node was opened by another process',
    'open the transport in the process that uses it; child processes cannot use it',
    'privilege',
  ],
  ESTALE: ['a dma-buf with revoked memory is still attached', 'detach it, then open the transport again', 'device'],
  ETIMEDOUT: ["the dma-buf's memory did not become ready in time", 'check the kernel log (dmesg)', 'device'],
}

/**
 * The module refused a request; kmod/uapi/gpunvme_ioctl.h documents each errno.
 * @param request its name in gpunvme_ioctl.h, without the prefix; 'open' of the node itself.
 */
export function kmodRefused(bdf: string, request: KmodRequest | 'open', errno: string, cause: unknown): DriverError {
  const [says, next, category] = MEANINGS[errno] ?? ['unexpected error', 'check the kernel log (dmesg)', 'failure']
  const what = request === 'open' ? 'Opening' : `GPUNVME_${request} on`
  return new DriverError('ERR_GPUNVME_KMOD', category, `${what} ${bdf} failed: ${says} (${errno})`, { next, cause })
}

/** The controller was removed, or unbound from the module, while it was open. */
export function kmodRemoved(bdf: string, cause?: unknown): DriverError {
  const headline = `${bdf} was removed, or unbound from the module gpunvme`
  const next = 'close the transport; bind the controller and open it again when it is back'
  return new DriverError('ERR_GPUNVME_KMOD_REMOVED', 'device', headline, { next, cause })
}
