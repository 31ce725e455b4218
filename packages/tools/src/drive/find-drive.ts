import { MachineFiles } from '@gpunvme/host-driver/machine-files'
import { nvmeFunction, type PciFunction } from '@gpunvme/host-driver/pci'
import { basename } from 'node:path'
import { linuxNameOf } from '../binding/drive-facts.js'
import { boundAs } from '../binding/state-files.js'
import { tryRead } from '../command-line/file-error.js'
import { UsageError, ToolsError } from '../command-line/tools-error.js'
import { parseDeviceName } from '../machine/device-name.js'
import { printable } from '../terminal/printable.js'

/** A drive on this machine's bus. */
export interface FoundDrive extends PciFunction {
  /** Linux's name, 'nvme0'; undefined if Linux's driver is not bound to it. */
  readonly linuxName: string | undefined
}

/**
 * Finds a drive by '0000:0b:00.0', '0b:00.0', 'nvme0', 'nvme0n1', '/dev/nvme0' or '/dev/gpunvme0'.
 * @param root directory that contains sys/: '/' on a live machine.
 * @throws UsageError for text that cannot name a drive; ToolsError (DRIVE_NOT_FOUND); DriverError (PCI_FUNCTION_NOT_FOUND,
 *   NOT_NVME).
 */
export function findDrive(text: string, root = '/'): FoundDrive {
  const found = nvmeFunction(root, addressOf(text, root))
  return { ...found, linuxName: linuxNameOf(root, found.bdf) }
}

/** Returns the address for the text, whether or not a drive is present. @throws UsageError, ToolsError (DRIVE_NOT_FOUND) */
export function addressOf(text: string, root: string): string {
  const named = parseDeviceName(text)
  if (named?.kind === 'address') return named.address
  // Rejects a partition: the user may expect that only the partition is used.
  if (named?.kind === 'linux' && !named.isPartition) return linuxAddress(named.name, root)
  if (named?.kind === 'module') return moduleAddress(named.node, root)
  throw new UsageError(`'${printable(text)}' is not the name of a drive`, {
    facts: ["expected a PCI address such as 0000:0b:00.0 or 0b:00.0, or Linux's name such as nvme0"],
    next: { command: ['list'] },
  })
}

function linuxAddress(name: string, root: string): string {
  const folder = `sys/class/nvme/${name}`
  const transport = textOf(root, `${folder}/transport`)
  if (transport !== undefined && transport !== 'pcie') {
    throw driveNotFoundError(`${name} is not on this machine's PCI bus: its transport is ${printable(transport)}`)
  }
  // While gpunvme has bound it, it has no name in Linux.
  const address = textOf(root, `${folder}/address`) ?? boundAs(root, name)
  if (address === undefined) throw driveNotFoundError(`Linux has no drive named ${name}`)
  return address
}

/** The device of the module's node is the PCI function. */
function moduleAddress(node: string, root: string): string {
  const device = tryRead(() => new MachineFiles(root).link(`sys/class/misc/${node}/device`))
  if (device === undefined) throw driveNotFoundError(`The module gpunvme has no drive named ${node}`)
  return basename(device)
}

function textOf(root: string, path: string): string | undefined {
  return tryRead(() => new MachineFiles(root).text(path).trim())
}

/** Error of a drive name that does not exist. */
function driveNotFoundError(problem: string): ToolsError {
  return new ToolsError('ERR_GPUNVME_DRIVE_NOT_FOUND', 'not-found', problem, {
    next: { command: ['list'], note: 'which lists the drives' },
  })
}
