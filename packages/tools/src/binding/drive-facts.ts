import { MachineFiles } from '@gpunvme/host-driver/machine-files'
import { tryRead } from '../command-line/file-error.js'
import { identifyText } from '../machine/identify-text.js'

/** Data of a drive from Linux's own driver; null if that is not bound. */
export interface DriveFacts {
  readonly serial: string | null
  readonly model: string | null
}

/** Returns the kernel driver's name for a drive, 'nvme0'; undefined if the driver is not bound to the drive. */
export function linuxNameOf(root: string, bdf: string): string | undefined {
  return tryRead(() => new MachineFiles(root).list(nvmeFolder(bdf)).find((name) => /^nvme\d+$/.test(name)))
}

export function driveFacts(root: string, bdf: string): DriveFacts {
  const linuxName = linuxNameOf(root, bdf)
  const text = (name: string) =>
    linuxName === undefined
      ? undefined
      : tryRead(() => identifyText(new MachineFiles(root).bytes(`${nvmeFolder(bdf)}/${linuxName}/${name}`)))
  return { serial: text('serial') ?? null, model: text('model') ?? null }
}

function nvmeFolder(bdf: string): string {
  return `sys/bus/pci/devices/${bdf}/nvme`
}
