/** Transports that can be opened by name. */
export const TRANSPORTS = ['sim', 'qtest', 'sysfs', 'vfio', 'kmod', 'vfio-user'] as const

/** Names of transports. */
export type TransportName = (typeof TRANSPORTS)[number]

/** Returns the transport for functions bound to a driver for user space; undefined for other drivers. */
export function transportOf(driver: string | undefined): 'sysfs' | 'vfio' | 'kmod' | undefined {
  if (driver === undefined || driver === 'uio_pci_generic') return 'sysfs'
  if (driver === 'vfio-pci') return 'vfio'
  if (driver === 'gpunvme') return 'kmod'
  return undefined
}
