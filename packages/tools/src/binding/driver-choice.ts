import { MachineFiles } from '@gpunvme/host-driver/machine-files'
import type { PciFunction, UserSpaceDriver } from '@gpunvme/host-driver/pci'

/** What --to calls what a drive can be given to. */
export const TARGETS = { 'vfio-pci': 'vfio-pci', kmod: 'gpunvme', none: null } as const satisfies Readonly<
  Record<string, UserSpaceDriver>
>

export type Target = keyof typeof TARGETS

/** A driver to bind, and why that one: 'the IOMMU is on (group 12)'. */
export interface DriverChoice {
  readonly driver: UserSpaceDriver
  readonly reason: string
}

/** What was asked for; or what this machine allows: the module first, since it needs nothing else. */
export function chooseDriver(
  root: string,
  { group }: Pick<PciFunction, 'group'>,
  target: Target | undefined,
): DriverChoice {
  if (target !== undefined) return { driver: TARGETS[target], reason: `--to ${target} was asked for` }
  if (new MachineFiles(root).exists('sys/bus/pci/drivers/gpunvme'))
    return { driver: 'gpunvme', reason: 'the module gpunvme is loaded' }
  if (group !== undefined && !group.isNoIommu)
    return { driver: 'vfio-pci', reason: `the IOMMU is on (group ${group.number})` }
  return { driver: null, reason: 'there is no IOMMU, or it is off, and the module gpunvme is not loaded' }
}

/** A driver in words: none is one too. */
export function driverName(driver: string | null | undefined): string {
  return driver ?? 'no driver'
}

/** The transport that opens a function as it is, or why none does. */
export type Opening = { readonly transport: 'sysfs' | 'vfio' | 'kmod' } | { readonly none: string }

/** What would open the function while `driver` has it. */
export function openingOf({ driver, group }: Pick<PciFunction, 'driver' | 'group'>): Opening {
  switch (driver) {
    case 'vfio-pci':
      return { transport: 'vfio' }
    case 'gpunvme':
      return { transport: 'kmod' }
    case undefined:
    case 'uio_pci_generic':
      return group === undefined || group.type === 'identity'
        ? { transport: 'sysfs' }
        : { none: 'its IOMMU translates, and sysfs works with physical addresses: --to vfio-pci' }
    default:
      return { none: `the kernel's driver ${driver} has it` }
  }
}
