import type { ErrorCategory } from '@gpunvme/nvme-spec/error'
import type { HardwareHost, NativeRegion } from '@gpunvme/nvme-spec/transport'
import { closeSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { isSystemError } from '../command-line/file-error.js'
import type { ReadRegister } from './view.js'
import { ToolsError } from '../command-line/tools-error.js'
import type { NextStep } from '../command-line/next-step.js'

/** The first page has all registers; the doorbells follow it. */
const REGISTERS_BYTES = 4096

/** Read-only mapping of the registers of a drive that is bound to a driver. */
export interface KernelRegisters {
  readonly read: ReadRegister
  close(): void
}

/**
 * Maps the registers of a PCI function that Linux uses. Reading them changes nothing.
 * @param path its directory in sysfs. @throws RegistersRefusedError
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
  EACCES: ['privilege', 'only root may map them', 'run as root'],
  EPERM: [
    'privilege',
    'the kernel is locked down, as with Secure Boot, or this is a container',
    {
      command: ['nvme', 'identify', '--drive', 'ADDRESS'],
      note: 'which, like smart, log and features, needs no registers',
    },
  ],
  EINVAL: [
    'privilege',
    "the kernel reserves registers in use for their driver (IO_STRICT_DEVMEM), and Linux's nvme driver uses them",
    [{ command: ['bind', 'ADDRESS'], note: 'which binds the drive to user space' }, 'boot with iomem=relaxed'],
  ],
}

/** Error of mapping registers of a drive that Linux's driver uses. */
export class RegistersRefusedError extends ToolsError {
  constructor(bdf: string, file: string, errno: string, cause?: unknown) {
    const [category, why, next] = REFUSALS[errno] ?? [
      'device',
      'the drive may have left the bus',
      [{ command: ['list'], note: 'which lists the drives' }, 'check the kernel log: dmesg'],
    ]
    const headline = `Cannot read the registers of ${bdf}: ${why} (${errno})`
    super('ERR_GPUNVME_REGISTERS_REFUSED', category, headline, { facts: [file], next, cause })
  }
}
