import { MachineFiles } from '@gpunvme/host-driver/machine-files'
import type { PciFunction, UserSpaceDriver } from '@gpunvme/host-driver/pci'

/** Values of --to, and the drivers that they stand for. */
export const TARGETS = { 'vfio-pci': 'vfio-pci', kmod: 'gpunvme', none: null } as const satisfies Readonly<
  Record<string, UserSpaceDriver>
>

export type Target = keyof typeof TARGETS

/** A driver to bind, and the reason: 'the IOMMU is on (group 12)'. */
export interface DriverChoice {
  readonly driver: UserSpaceDriver
  readonly reason: string
}

/**
 * Returns the requested driver; otherwise one that this machine supports: the module first, which requires nothing
 * else, except that it refuses a controller without translation by an IOMMU if the kernel is locked down.
 */
export function chooseDriver(
  root: string,
  { group }: Pick<PciFunction, 'group'>,
  target: Target | undefined,
): DriverChoice {
  if (target !== undefined) return { driver: TARGETS[target], reason: `requested by --to ${target}` }
  const files = new MachineFiles(root)
  const translates = group !== undefined && !group.isNoIommu && group.type !== 'identity'
  const isLoaded = files.exists('sys/bus/pci/drivers/gpunvme')
  const isRefused = isLoaded && !translates && isLockedDown(files)
  if (isLoaded && !isRefused) return { driver: 'gpunvme', reason: 'the module gpunvme is loaded' }
  if (group !== undefined && !group.isNoIommu)
    return { driver: 'vfio-pci', reason: `the IOMMU is on (group ${group.number})` }
  const module = isRefused ? 'cannot open the drive, since the kernel is locked down' : 'is not loaded'
  return { driver: null, reason: `there is no IOMMU, or it is off, and the module gpunvme ${module}` }
}

function isLockedDown(files: MachineFiles): boolean {
  const path = 'sys/kernel/security/lockdown'
  return files.exists(path) && !files.text(path).includes('[none]')
}

/** Returns the name of a driver, or text for none. */
export function driverName(driver: string | null | undefined): string {
  return driver ?? 'no driver'
}

/** The transport that can open a function now, or why none can. */
export type Opening = { readonly transport: 'sysfs' | 'vfio' | 'kmod' } | { readonly none: string }

/** Returns how the function can be opened while it is bound to `driver`. */
export function openingOf({
  driver,
  group,
}: {
  readonly driver: string | undefined
  /** Its IOMMU group. */
  readonly group: { readonly type: string | undefined } | undefined
}): Opening {
  switch (driver) {
    case 'vfio-pci':
      return { transport: 'vfio' }
    case 'gpunvme':
      return { transport: 'kmod' }
    case undefined:
    case 'uio_pci_generic':
      return group === undefined || group.type === 'identity'
        ? { transport: 'sysfs' }
        : { none: 'its IOMMU translates addresses, and sysfs uses physical ones: bind it with --to vfio-pci' }
    default:
      return { none: `it is bound to the kernel's driver ${driver}` }
  }
}
