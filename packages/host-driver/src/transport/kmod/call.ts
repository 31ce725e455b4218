import { GpuNvmeError, type ErrorCategory } from '@gpunvme/nvme-spec'
import type { HardwareHost } from '@gpunvme/nvme-spec/transport'
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
const MOST_INTERRUPTIONS = 100

/**
 * Calls ioctl(2) with a structure, which then holds the answer.
 * @throws TypeError if the node is closed; KmodRemovedError if the controller is gone; KmodError for every other
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
      if (code === 'EINTR' && interruptions < MOST_INTERRUPTIONS) continue
      if (code === 'ENODEV') throw new KmodRemovedError(bdf, error)
      throw new KmodError(bdf, request, code, error)
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
 * @throws as `call`, but not KmodRemovedError
 */
export function releaseHandle(node: KmodNode, handle: number): void {
  unlessRemoved(() => call(node, 'RELEASE', Release.create({ SIZE: Release.bytes, HANDLE: handle }).data))
}

/** Runs an action that only matters while there is a controller. */
export function unlessRemoved(action: () => void): void {
  try {
    action()
  } catch (error) {
    if (!(error instanceof KmodRemovedError)) throw error
  }
}

/** Meaning, next step and category of each errno of the module. */
const MEANINGS: Readonly<Record<string, readonly [says: string, next: string, category: ErrorCategory]>> = {
  EAGAIN: ['another process is resetting or removing the device', 'open it again when that is over (dmesg)', 'device'],
  E2BIG: [
    'the module is older than this program',
    'build and load the module that belongs to it: kmod/README.md',
    'infeasible',
  ],
  EBADF: ['there is no such file behind the descriptor', 'give one that is open, of the right kind', 'usage'],
  EBUSY: [
    'other functions would be reset too, or the memory is still mapped',
    "reset('function'), or unmap it",
    'infeasible',
  ],
  EEXIST: ['the vector signals an eventfd already', 'close the transport, and open it again', 'failure'],
  EFAULT: ['there is no memory that can be pinned', 'memory that the native host has allocated', 'failure'],
  EINTR: ['signals keep ending it', 'again, when they have stopped', 'failure'],
  EINVAL: [
    'the module does not take these values',
    'load the module that belongs to this program: kmod/README.md',
    'failure',
  ],
  EIO: [
    'the controller does not follow',
    'see the kernel log (dmesg); power-cycle the drive, then open it again',
    'device',
  ],
  EMEDIUMTYPE: ['the descriptor is no dma-buf', 'give the one that its exporter returned', 'usage'],
  EMFILE: ['65536 memories are held already', 'free memory, or allocate larger ones', 'infeasible'],
  ENOENT: ['there is no such memory', 'close the transport, and open it again', 'failure'],
  ENOMEM: [
    'the kernel has no such memory left',
    'less of it, or echo 1 > /proc/sys/vm/compact_memory, which joins what is free in pieces',
    'infeasible',
  ],
  ENOSPC: ['the memory falls into more pieces each time', 'use huge pages: { hugePages: true }', 'infeasible'],
  ENOTTY: [
    'that file is none of the module gpunvme, or the module is older',
    'give /dev/gpunvme0 or a PCI address',
    'usage',
  ],
  EOPNOTSUPP: [
    'the kernel or the exporter of the memory has no way to do it',
    'see the kernel log (dmesg): memory may be out of the reach of the controller, and a GPU without a path to it',
    'infeasible',
  ],
  EOVERFLOW: ['it is more than 4 GiB at once, or wraps around', 'allocate less at once', 'usage'],
  EPERM: [
    'another process has opened the node',
    'open the transport in the process that uses it: a child of it cannot',
    'privilege',
  ],
  ESTALE: [
    'the memory of a dma-buf that is still attached has gone',
    'detach it, then open the transport again',
    'device',
  ],
  ETIMEDOUT: ["the exporter did not make the dma-buf's memory ready", 'see what the kernel log says (dmesg)', 'device'],
}

/** The module refused a request; kmod/uapi/gpunvme_ioctl.h documents each errno. */
export class KmodError extends GpuNvmeError {
  readonly code = 'ERR_GPUNVME_KMOD'
  readonly category: ErrorCategory
  /** Its name in gpunvme_ioctl.h, without the prefix; 'open' of the node itself. */
  readonly request: KmodRequest | 'open'
  /** Error of the module, such as 'EBUSY'. */
  readonly errno: string
  constructor(bdf: string, request: KmodRequest | 'open', errno: string, cause?: unknown) {
    const [says, next, category] = MEANINGS[errno] ?? [
      'for no reason that the module states',
      'see what the kernel log says (dmesg)',
      'failure',
    ]
    super(`${request === 'open' ? 'Opening' : `GPUNVME_${request} of`} ${bdf} failed: ${errno}, ${says}`, {
      next,
      cause,
    })
    this.category = category
    this.request = request
    this.errno = errno
  }
}

/** The controller was removed, or unbound from the module, while it was open. */
export class KmodRemovedError extends GpuNvmeError {
  readonly code = 'ERR_GPUNVME_KMOD_REMOVED'
  readonly category = 'device'
  constructor(bdf: string, cause?: unknown) {
    super(`${bdf} was removed, or unbound from the module gpunvme`, {
      next: 'close the transport; bind the controller and open it again when it is back',
      cause,
    })
  }
}
