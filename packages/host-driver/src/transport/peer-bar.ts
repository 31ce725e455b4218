import { closeSync, fstatSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { PciHeader } from '@gpunvme/nvme-spec/pci'
import type { HardwareHost, NativeRegion } from '@gpunvme/nvme-spec/transport'
import { sysfsConfigSpace } from '../pci/config-space.js'
import { attribute, checkBdf, DriverBoundError, driverOf, functionFolder } from '../pci/function.js'
import { accessing } from './hardware-access.js'

/** Memory of another device: one of its BARs. */
export interface PeerBar {
  readonly bdf: string
  /** Which: 0 to 5. A 64-bit BAR counts as the first of its two. */
  readonly bar: number
}

/** A BAR of another device that is mapped into this process. */
export interface MappedPeer extends MappedResource {
  /** Of its first byte, on the bus. */
  readonly physicalAddress: number
}

/**
 * Maps a BAR of another device by its file in sysfs, resourceN, and lets that device answer in memory space. No kernel
 * driver may have it: kernels with IO_STRICT_DEVMEM map nothing that a driver claims, and others would let two write to it.
 * @throws RangeError for no such BAR, DriverBoundError before anything is changed, HardwareAccessError, ConfigSpaceAccessError
 */
export function mapPeerBar(host: HardwareHost, sysRoot: string, { bdf, bar }: PeerBar): MappedPeer {
  checkBdf(bdf)
  const path = join(sysRoot, functionFolder(bdf))
  // Lines of first address, last address and flags, one for each BAR.
  const line =
    Number.isInteger(bar) && bar >= 0 && bar < 6
      ? attribute(sysRoot, `${functionFolder(bdf)}/resource`)?.split('\n')[bar]
      : undefined
  const [first = 0, last = 0] = line?.split(' ').map(Number) ?? []
  if (last === 0) throw new RangeError(`peer: expected a BAR that is there, got BAR ${bar} of ${bdf}`)
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
  throw new DriverBoundError(bdf, driver, null, `unbind it: echo ${bdf} > /sys/bus/pci/devices/${bdf}/driver/unbind`)
}

/** A file resourceN of sysfs that is mapped whole, and open as long as it is. */
export interface MappedResource {
  readonly region: NativeRegion
  readonly close: () => void
}

/**
 * Maps a file resourceN of sysfs, whole. It stays open, although a mapping does not need that: the write guard of
 * another process sees by it that the function is in use. @throws HardwareAccessError
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
