import { loadHardwareHost } from '@gpunvme/cuda-native/host'
import { Controller } from '@gpunvme/host-driver'
import type { HardwareHost } from '@gpunvme/nvme-spec/transport'
import type { DriveFlags } from '../command-line/options.js'
import { findDrive, type FoundDrive } from '../drive/find-drive.js'
import { nameLinuxDrive } from '../drive/named-drive.js'
import { refuseEmulated } from '../drive/open-named.js'
import { withTransport } from '../drive/with-drive.js'
import type { Output } from '../terminal/output.js'
import { openKernelRegisters, type KernelRegisters } from './kernel-registers.js'
import { openPassthrough } from './passthrough.js'
import { modelledTime, type AdminView } from './view.js'
import { ToolsError } from '../command-line/tools-error.js'

/**
 * Opens the drive of the flags for queries: through Linux's driver if that is bound to it, otherwise with this
 * package's driver.
 * @throws errors of `withTransport` and `Controller.open`; ToolsError (PASSTHROUGH, NO_LINUX_NAME).
 */
export async function withAdminView<T>(
  flags: DriveFlags,
  output: Output,
  signal: AbortSignal,
  use: (view: AdminView) => Promise<T>,
): Promise<T> {
  const drive = linuxDrive(flags)
  if (drive !== undefined) {
    return withLinux(loadHardwareHost(), drive, '/dev', (view) => {
      output.nameDrive(nameLinuxDrive(drive, '/'))
      return use(view)
    })
  }
  return withTransport(flags, 'read', output, async (opened) => {
    const { transport } = opened
    signal.throwIfAborted()
    const controller = await Controller.open(transport)
    try {
      return await use({
        by: 'driver',
        name: transport.bdf ?? transport.name,
        source: 'brought up by the driver of gpunvme',
        reader: controller,
        readRegister: (register) => controller.registers.read(register),
        ...modelledTime(opened),
      })
    } finally {
      await controller.close()
    }
  })
}

/** The drive of the flags, if it is bound to Linux's driver and no transport was requested. */
export function linuxDrive(flags: DriveFlags): FoundDrive | undefined {
  if (flags.drive === undefined || flags.transport !== undefined) return undefined
  refuseEmulated(flags)
  const drive = findDrive(flags.drive)
  return drive.driver === 'nvme' ? drive : undefined
}

/** Opens a drive through Linux's driver. @param devices directory of its node: '/dev'. */
export async function withLinux<T>(
  host: HardwareHost,
  { bdf, path, linuxName }: FoundDrive,
  devices: string,
  use: (view: AdminView) => Promise<T>,
): Promise<T> {
  if (linuxName === undefined)
    throw new ToolsError(
      'ERR_GPUNVME_NO_LINUX_NAME',
      'device',
      `Linux's nvme driver is bound to ${bdf}, but has no controller for it`,
      {
        facts: ['it is starting up, or has abandoned the drive'],
        next: 'check the kernel log: dmesg',
      },
    )
  const passthrough = await openPassthrough(host, `${devices}/${linuxName}`)
  let registers: KernelRegisters | undefined
  try {
    return await use({
      by: 'linux',
      name: `${bdf} (${linuxName})`,
      source: "through Linux's nvme driver, which stays bound",
      reader: passthrough.reader,
      readRegister: (register) => (registers ??= openKernelRegisters(host, bdf, path)).read(register),
    })
  } finally {
    registers?.close()
    passthrough.close()
  }
}
