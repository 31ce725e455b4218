import type { ErrorDetails } from '@gpunvme/nvme-spec'
import { NVME_CLASS_CODE, PciHeader } from '@gpunvme/nvme-spec/pci'
import { DriverError } from '../error.js'
import { checkBdf } from '../machine-files/bdf.js'
import { MachineFiles } from '../machine-files/files.js'
import { nodeJs } from '../machine-files/node-js.js'

const DEVICES = 'sys/bus/pci/devices'

/** A PCI function as sysfs describes it. */
export interface PciFunction {
  /** PCI address. */
  readonly bdf: string
  /** Its directory: /sys/bus/pci/devices/BDF. */
  readonly path: string
  /** Bound kernel driver; undefined if there is none. */
  readonly driver: string | undefined
  /** IOMMU group; undefined if the machine has no IOMMU, or it is off. */
  readonly group: IommuGroup | undefined
}

/** Functions that an IOMMU cannot distinguish. */
export interface IommuGroup {
  /** Number of the group. */
  readonly number: string
  /**
   * Type of the default domain: 'identity' maps nothing, 'DMA' and 'DMA-FQ' translate; undefined if the kernel does not
   * say.
   */
  readonly type: string | undefined
  /** Whether vfio created the group for a function without an IOMMU. */
  readonly isNoIommu: boolean
  /** The BDFs of all its functions. */
  readonly functions: readonly string[]
}

/**
 * Finds an NVMe function in sysfs.
 * @param sysRoot directory with sys/: '/' on a live machine.
 * @throws RangeError for an invalid PCI address; DriverError (PCI_FUNCTION_NOT_FOUND, NOT_NVME).
 */
export function nvmeFunction(sysRoot: string, bdf: string): PciFunction {
  checkBdf(bdf)
  const classCode = classOf(sysRoot, bdf)
  if (classCode === undefined) throw functionNotFound(bdf, nvmeFunctions(sysRoot))
  if (classCode !== NVME_CLASS_CODE) throw notNvme(bdf, classCode, nvmeFunctions(sysRoot))
  const path = nodeJs.path.join(sysRoot, functionFolder(bdf))
  return { bdf, path, driver: driverOf(sysRoot, bdf), group: groupOf(sysRoot, bdf) }
}

/** Lists the PCI addresses of all NVMe controllers: class code 010802h. */
export function nvmeFunctions(sysRoot: string): string[] {
  return list(sysRoot, DEVICES)
    .filter((bdf) => classOf(sysRoot, bdf) === NVME_CLASS_CODE)
    .sort()
}

/** Returns the driver that is bound to a function; undefined if none is bound. */
export function driverOf(sysRoot: string, bdf: string): string | undefined {
  return linkName(sysRoot, `${functionFolder(bdf)}/driver`)
}

/**
 * Lists the other functions of the group that are bound to a driver other than vfio-pci and pci-stub. While there are
 * any, the kernel does not hand out the group. Bridges do not count, as in the kernel.
 */
export function obstacles(sysRoot: string, { bdf, group }: Pick<PciFunction, 'bdf' | 'group'>): GroupObstacle[] {
  return (group?.functions ?? []).flatMap((other) => {
    const driver = driverOf(sysRoot, other)
    if (other === bdf || driver === undefined || driver === 'vfio-pci' || driver === 'pci-stub') return []
    return isBridge(sysRoot, other) ? [] : [{ bdf: other, driver }]
  })
}

/** Returns the sysfs folder of a function, relative to the root of the machine. */
export function functionFolder(bdf: string): string {
  return `${DEVICES}/${bdf}`
}

/**
 * Returns the text of a sysfs file without the final newline; undefined if the file does not exist.
 * @param path from `sysRoot`. @throws MachineFileError
 */
export function attribute(sysRoot: string, path: string): string | undefined {
  return unlessMissing(() => new MachineFiles(sysRoot).text(path).trim())
}

function classOf(sysRoot: string, bdf: string): number | undefined {
  const text = attribute(sysRoot, `${functionFolder(bdf)}/class`)
  return text === undefined ? undefined : Number(text)
}

function groupOf(sysRoot: string, bdf: string): IommuGroup | undefined {
  const folder = `${functionFolder(bdf)}/iommu_group`
  const number = linkName(sysRoot, folder)
  if (number === undefined) return undefined
  return {
    number,
    type: attribute(sysRoot, `${folder}/type`),
    isNoIommu: attribute(sysRoot, `${folder}/name`) === 'vfio-noiommu',
    functions: list(sysRoot, `${folder}/devices`).sort(),
  }
}

/** Returns whether the header layout is 1 or 2: every user can read the first 64 bytes of configuration space. */
function isBridge(sysRoot: string, bdf: string): boolean {
  const header = new MachineFiles(sysRoot).bytes(`${functionFolder(bdf)}/config`)
  return PciHeader.HTYPE.HL.of(header[PciHeader.HTYPE.offset] ?? 0) !== 0
}

function linkName(sysRoot: string, path: string): string | undefined {
  return unlessMissing(() => nodeJs.path.basename(new MachineFiles(sysRoot).link(path)))
}

function list(sysRoot: string, path: string): string[] {
  return unlessMissing(() => new MachineFiles(sysRoot).list(path)) ?? []
}

function unlessMissing<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined
    throw error
  }
}

/** A function that prevents its group from being handed out. */
export interface GroupObstacle {
  readonly bdf: string
  readonly driver: string
}

/** @param available NVMe controllers of this machine. */
export function functionNotFound(bdf: string, available: readonly string[]): DriverError {
  return new DriverError(
    'ERR_GPUNVME_PCI_FUNCTION_NOT_FOUND',
    'not-found',
    `There is no PCI function ${bdf}`,
    listing(available),
  )
}

/** @param available NVMe controllers of this machine. */
export function notNvme(bdf: string, classCode: number, available: readonly string[]): DriverError {
  const hex = classCode.toString(16).padStart(6, '0')
  const headline = `PCI function ${bdf} is not an NVMe controller: class code ${hex}h, expected 010802h`
  return new DriverError('ERR_GPUNVME_NOT_NVME', 'not-found', headline, listing(available))
}

function listing(available: readonly string[]): ErrorDetails {
  return {
    facts: [`NVMe controllers here: ${available.join(', ') || 'none'}`],
    next:
      available.length > 0
        ? 'give one of these addresses'
        : 'check that the drive has power and sits in its slot, then rescan: echo 1 > /sys/bus/pci/rescan',
  }
}

/** The kernel hands out no device of an IOMMU group while others of it have drivers, which could access its memory. */
export function groupNotViable(bdf: string, group: string, others: readonly GroupObstacle[]): DriverError {
  const headline = `IOMMU group ${group} of ${bdf} is not viable: other devices in it are in use`
  return new DriverError('ERR_GPUNVME_GROUP_NOT_VIABLE', 'privilege', headline, {
    facts: others.map((other) => `${other.bdf} is bound to ${other.driver}`),
    next: 'unbind them or bind them to vfio-pci too; or put the drive in a slot with an IOMMU group of its own',
  })
}

/**
 * A driver is bound that must first release the function, or a required driver is not bound. Nothing was touched.
 * @param next next step, if `bindDriver` does not help.
 */
export function driverBound(
  bdf: string,
  driver: string | undefined,
  wanted: string | null,
  next?: string,
): DriverError {
  const target = wanted === null ? 'null' : `'${wanted}'`
  const headline =
    driver === undefined
      ? `No kernel driver is bound to ${bdf}, but ${wanted} is required`
      : `The kernel's driver ${driver} is bound to ${bdf}`
  const bind = `bindDriver({ bdf: '${bdf}', driver: ${target} }) of '@gpunvme/host-driver/pci', and restore() afterwards`
  return new DriverError('ERR_GPUNVME_DRIVER_BOUND', 'privilege', headline, { next: next ?? bind })
}
