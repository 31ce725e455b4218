import { closeSync, fstatSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { PciHeader } from '@gpunvme/nvme-spec/pci'
import type { HardwareHost, NativeRegion } from '@gpunvme/nvme-spec/transport'
import { checkBdf } from '../machine-files/bdf.js'
import { sysfsConfigSpace } from '../pci/config-space.js'
import { attribute, driverBound, driverOf, functionFolder } from '../pci/function.js'
import { accessing } from './hardware-access.js'

/** Memory of another device: one of its BARs. */
export interface PeerBar {
  /** PCI address of the device. */
  readonly bdf: string
  /** Number of the BAR, 0 to 5. A 64-bit BAR has the number of its first half. */
  readonly bar: number
}

/** A BAR of another device that is mapped into this process. */
export interface MappedPeer extends MappedResource {
  /** Bus address of its first byte. */
  readonly physicalAddress: number
}

/**
 * Maps a BAR of another device by its file in sysfs, resourceN, and enables memory space of that device. No kernel
 * driver may be bound to it: kernels with IO_STRICT_DEVMEM do not map what a driver claims, and with others both would
 * write to it.
 * @throws RangeError if there is no such BAR; DriverError (DRIVER_BOUND before anything is changed; HARDWARE_ACCESS,
 *   CONFIG_SPACE_ACCESS)
 */
export function mapPeerBar(host: HardwareHost, sysRoot: string, { bdf, bar }: PeerBar): MappedPeer {
  checkBdf(bdf)
  const path = join(sysRoot, functionFolder(bdf))
  // One line for each BAR: first address, last address, flags.
  const line =
    Number.isInteger(bar) && bar >= 0 && bar < 6
      ? attribute(sysRoot, `${functionFolder(bdf)}/resource`)?.split('\n')[bar]
      : undefined
  const [first = 0, last = 0] = line?.split(' ').map(Number) ?? []
  if (last === 0) throw new RangeError(`peer: expected an existing BAR, got BAR ${bar} of ${bdf}`)
  refuseOtherDriver(sysRoot, bdf)
  const config = sysfsConfigSpace(join(path, 'config'))
  try {
    const { CMD } = PciHeader
    config.write(CMD.offset, 2, config.read(CMD.offset, 2) | (1 << CMD.MSE.lsb))
  } finally {
    config.close()
  }
  return { ...mapResource(host, bdf, join(path, `resource${bar}`)), physicalAddress: first }
}

/** Drivers that leave a function alone. */
const LEAVE_ALONE = ['vfio-pci', 'pci-stub', 'uio_pci_generic']

function refuseOtherDriver(sysRoot: string, bdf: string): void {
  const driver = driverOf(sysRoot, bdf)
  if (driver === undefined || LEAVE_ALONE.includes(driver)) return
  throw driverBound(bdf, driver, null, `unbind it: echo ${bdf} > /sys/bus/pci/devices/${bdf}/driver/unbind`)
}

/** A file resourceN of sysfs, mapped completely, and open as long as it is mapped. */
export interface MappedResource {
  readonly region: NativeRegion
  readonly close: () => void
}

/**
 * Maps a file resourceN of sysfs completely. It stays open, which a mapping does not need: the write guard of another
 * process finds the use by it.
 * @throws DriverError (HARDWARE_ACCESS)
 */
export function mapResource(host: HardwareHost, bdf: string, file: string): MappedResource {
  return accessing(bdf, file, () => {
    const fd = openSync(file, 'r+')
    try {
      const region = host.map(fd, 0, fstatSync(fd).size, 'read-write')
      let isOpen = true
      const close = () => {
        region.unmap()
        if (isOpen) closeSync(fd)
        isOpen = false
      }
      return { region, close }
    } catch (error) {
      closeSync(fd)
      throw error
    }
  })
}
