import type { ErrorCategory } from '@gpunvme/nvme-spec/error'
import type { HardwareHost, NativeRegion } from '@gpunvme/nvme-spec/transport'
import { closeSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { isSystemError } from '../command-line/file-error.js'
import type { ReadRegister } from './view.js'
import { ToolsError } from '../command-line/tools-error.js'
import type { NextStep } from '../command-line/next-step.js'

/** All registers lie in the first page, the doorbells behind it. */
const REGISTERS_BYTES = 4096

/** Registers of a drive that a driver has, mapped for reading alone. */
export interface KernelRegisters {
  readonly read: ReadRegister
  close(): void
}

/**
 * Maps the registers of a PCI function that Linux uses: looking at them changes nothing.
 * @param path its folder in sysfs. @throws RegistersRefusedError
 */
export function openKernelRegisters(host: HardwareHost, bdf: string, path: string): KernelRegisters {
  const region = mapRegisters(host, bdf, join(path, 'resource0'))
  return {
    read: ({ offset, widthBits }) => (widthBits === 32 ? region.load32(offset) : region.load64(offset)),
    close: () => region.unmap(),
  }
}

function mapRegisters(host: HardwareHost, bdf: string, file: string): NativeRegion {
  let fd: number | undefined
  try {
    fd = openSync(file, 'r')
    return host.map(fd, 0, REGISTERS_BYTES, 'read')
  } catch (error) {
    if (!isSystemError(error)) throw error
    throw new RegistersRefusedError(bdf, file, error.code, error)
  } finally {
    if (fd !== undefined) closeSync(fd)
  }
}

const REFUSALS: Readonly<Record<string, readonly [category: ErrorCategory, why: string, next: NextStep]>> = {
  EACCES: ['privilege', 'root alone may map them', 'run as root'],
  EPERM: [
    'privilege',
    'the kernel is locked down, as Secure Boot has it, or this is a container',
    { command: ['identify'], note: 'which, like smart, log and features, needs no registers' },
  ],
  EINVAL: [
    'privilege',
    "the kernel keeps what a driver uses from programs (IO_STRICT_DEVMEM), and Linux's nvme driver uses them",
    [{ command: ['bind', 'ADDRESS'], note: 'which gives the drive to user space' }, 'boot with iomem=relaxed'],
  ],
}

/** The kernel does not let the registers of a drive be seen that its own driver has. */
export class RegistersRefusedError extends ToolsError {
  readonly code = 'ERR_GPUNVME_REGISTERS_REFUSED'
  readonly category: ErrorCategory
  readonly errno: string
  constructor(bdf: string, file: string, errno: string, cause?: unknown) {
    const [category, why, next] = REFUSALS[errno] ?? [
      'device',
      'the drive may have left the bus',
      [{ command: ['list'], note: 'which shows the drives that there are' }, 'see what the kernel says of it: dmesg'],
    ]
    super(`Cannot look at the registers of ${bdf}: ${why} (${errno})`, { facts: [file], next, cause })
    this.category = category
    this.errno = errno
  }
}
