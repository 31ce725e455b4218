import { MachineFiles } from '@gpunvme/host-driver/machine-files'
import { nvmeFunction, type PciFunction } from '@gpunvme/host-driver/pci'
import { basename } from 'node:path'
import { linuxNameOf } from '../binding/drive-facts.js'
import { boundAs } from '../binding/state-files.js'
import { isSystemError } from '../command-line/file-error.js'
import { UsageError } from '../command-line/usage-error.js'
import { printable } from '../terminal/printable.js'
import { ToolsError } from '../command-line/tools-error.js'

/** A drive on this machine's bus. */
export interface FoundDrive extends PciFunction {
  /** What Linux's own driver calls it, 'nvme0'; undefined while that has it not. */
  readonly linuxName: string | undefined
}

/**
 * The drive that is meant by '0000:0b:00.0', '0b:00.0', 'nvme0', 'nvme0n1' or '/dev/nvme0'; also '/dev/gpunvme0'.
 * @param root where sys/ is: '/' on a live machine.
 * @throws UsageError for words that name no drive; DriveNotFoundError; PciFunctionNotFoundError, NotNvmeError.
 */
export function findDrive(text: string, root = '/'): FoundDrive {
  const found = nvmeFunction(root, addressOf(text, root))
  return { ...found, linuxName: linuxNameOf(root, found.bdf) }
}

/** The address that is meant, whether or not a drive is there now. @throws UsageError, DriveNotFoundError */
export function addressOf(text: string, root: string): string {
  const word = text.replace(/^\/dev\//, '')
  const [, domain = '0000', rest] =
    /^(?:([0-9a-f]{4,8}):)?([0-9a-f]{2}:[01][0-9a-f]\.[0-7])$/.exec(word.toLowerCase()) ?? []
  if (rest !== undefined) return `${domain}:${rest}`
  const [, name] = /^(nvme\d+)(?:n\d+)?$/.exec(word) ?? []
  if (name !== undefined) return linuxAddress(name, root)
  const [node] = /^gpunvme\d+$/.exec(word) ?? []
  if (node !== undefined) return moduleAddress(node, root)
  throw new UsageError(`'${printable(text)}' names no drive`, {
    facts: ["expected a PCI address as 0000:0b:00.0 or 0b:00.0, or Linux's name as nvme0"],
    next: { command: ['list'] },
  })
}

function linuxAddress(name: string, root: string): string {
  const folder = `sys/class/nvme/${name}`
  const transport = textOf(root, `${folder}/transport`)
  if (transport !== undefined && transport !== 'pcie') {
    throw new DriveNotFoundError(`${name} is no drive on this machine's bus: it is reached by ${printable(transport)}`)
  }
  // While gpunvme has it bound, Linux has no name for it.
  const address = textOf(root, `${folder}/address`) ?? boundAs(root, name)
  if (address === undefined) throw new DriveNotFoundError(`Linux has no drive of the name ${name}`)
  return address
}

/** The device of the module's node is the function. */
function moduleAddress(node: string, root: string): string {
  try {
    return basename(new MachineFiles(root).link(`sys/class/misc/${node}/device`))
  } catch (error) {
    if (!isSystemError(error)) throw error
    throw new DriveNotFoundError(`The module gpunvme has no drive of the name ${node}`)
  }
}

function textOf(root: string, path: string): string | undefined {
  try {
    return new MachineFiles(root).text(path).trim()
  } catch (error) {
    if (isSystemError(error)) return undefined
    throw error
  }
}

/** There is none of that name. */
export class DriveNotFoundError extends ToolsError {
  readonly code = 'ERR_GPUNVME_DRIVE_NOT_FOUND'
  readonly category = 'not-found'
  constructor(problem: string) {
    super(problem, { next: { command: ['list'], note: 'which shows the drives that there are' } })
  }
}
