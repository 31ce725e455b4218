/** Transports that this version opens by name. */
export const TRANSPORTS = ['sim', 'qtest', 'sysfs', 'vfio', 'kmod', 'vfio-user'] as const

export type TransportName = (typeof TRANSPORTS)[number]

/** The drivers of the kernel that leave a function to user space, and the transport that opens it then. */
export function transportOf(driver: string | undefined): 'sysfs' | 'vfio' | 'kmod' | undefined {
  if (driver === undefined || driver === 'uio_pci_generic') return 'sysfs'
  if (driver === 'vfio-pci') return 'vfio'
  if (driver === 'gpunvme') return 'kmod'
  return undefined
}
