import { closeSync, fstatSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { PciHeader } from '@gpunvme/nvme-spec/pci'
import type { DmaMemory, HardwareHost, NativeRegion } from '@gpunvme/nvme-spec/transport'
import { checkBdf } from '../machine-files/bdf.js'
import { sysfsConfigSpace } from '../pci/config-space.js'
import { attribute, driverBound, driverOf, functionFolder } from '../pci/function.js'
import { accessing } from './hardware-access.js'
import { SegmentedMemory } from './segmented-memory.js'

/** Part of a BAR, in whole pages of 4 KiB. */
export interface BarRun {
  /** Offset of its first byte in the BAR. */
  readonly offsetBytes: number
  readonly lengthBytes: number
}

/** Memory of another device: one of its BARs, or parts of it. */
export interface PeerBar {
  /** PCI address of the device. */
  readonly bdf: string
  /** Number of the BAR, 0 to 5. A 64-bit BAR has the number of its first half. */
  readonly bar: number
  /** The parts that form the memory, in its order; they must not overlap. Default: the whole BAR. */
  readonly runs?: readonly BarRun[]
  /**
   * Kernel driver that may stay bound to the device, because it leaves this memory to the caller: 'nvidia' for memory that
   * CUDA allocated. Default: none may be bound.
   */
  readonly driver?: string
}

/** Validated parts of another device's BAR. */
export interface FoundPeer {
  /** File of the BAR in sysfs. */
  readonly file: string
  /** Bus address of the BAR's first byte. */
  readonly physicalAddress: number
  readonly runs: readonly BarRun[]
}

/**
 * Finds a BAR of another device in sysfs, and enables memory space of a device without a driver. No driver other than
 * `peer.driver` may be bound, since it and the controller would write to the same memory.
 * @throws RangeError if there is no such BAR, or for invalid parts of it; DriverError (DRIVER_BOUND before anything is
 *   changed; HARDWARE_ACCESS, CONFIG_SPACE_ACCESS)
 */
export function findPeer(sysRoot: string, { bdf, bar, runs, driver }: PeerBar): FoundPeer {
  checkBdf(bdf)
  const path = join(sysRoot, functionFolder(bdf))
  // One line for each BAR: first address, last address, flags.
  const line =
    Number.isInteger(bar) && bar >= 0 && bar < 6
      ? attribute(sysRoot, `${functionFolder(bdf)}/resource`)?.split('\n')[bar]
      : undefined
  const [first = 0, last = 0] = line?.split(' ').map(Number) ?? []
  if (last === 0) throw new RangeError(`peer: expected an existing BAR, got BAR ${bar} of ${bdf}`)
  const lengthBytes = last - first + 1
  if (runs !== undefined) checkRuns(runs, lengthBytes)
  const bound = driverOf(sysRoot, bdf)
  if (bound === undefined || bound !== driver) {
    refuseOtherDriver(bdf, bound)
    enableMemorySpaceOf(bdf, join(path, 'config'))
  }
  return {
    file: join(path, `resource${bar}`),
    physicalAddress: first,
    runs: runs ?? [{ offsetBytes: 0, lengthBytes }],
  }
}

const PAGE_BYTES = 4096

function checkRuns(runs: readonly BarRun[], barBytes: number): void {
  if (runs.length === 0) throw new RangeError('peer.runs: expected at least one part of the BAR, got none')
  for (const { offsetBytes, lengthBytes } of runs) {
    const isInBar = offsetBytes >= 0 && lengthBytes > 0 && offsetBytes + lengthBytes <= barBytes
    if (isInBar && offsetBytes % PAGE_BYTES === 0 && lengthBytes % PAGE_BYTES === 0) continue
    throw new RangeError(
      `peer.runs: expected whole pages of ${PAGE_BYTES} bytes within ${barBytes} bytes, got ${lengthBytes} bytes at ${offsetBytes}`,
    )
  }
  const sorted = runs.toSorted((one, other) => one.offsetBytes - other.offsetBytes)
  for (const [index, { offsetBytes }] of sorted.entries()) {
    const before = sorted[index - 1]
    if (before !== undefined && before.offsetBytes + before.lengthBytes > offsetBytes)
      throw new RangeError(`peer.runs: expected parts that do not overlap, got two that contain byte ${offsetBytes}`)
  }
}

/** Drivers that do not access the memory of their function. */
const LEAVE_ALONE = ['vfio-pci', 'pci-stub', 'uio_pci_generic']

function refuseOtherDriver(bdf: string, driver: string | undefined): void {
  if (driver === undefined || LEAVE_ALONE.includes(driver)) return
  throw driverBound(bdf, driver, null, `unbind it: echo ${bdf} > /sys/bus/pci/devices/${bdf}/driver/unbind`)
}

function enableMemorySpaceOf(bdf: string, file: string): void {
  const config = accessing(bdf, file, () => sysfsConfigSpace(file))
  try {
    const { CMD } = PciHeader
    config.write(CMD.offset, 2, config.read(CMD.offset, 2) | (1 << CMD.MSE.lsb))
  } finally {
    config.close()
  }
}

/** Returns the memory of `found` for a controller whose addresses are bus addresses. The CPU cannot access it. */
export function peerAtBusAddresses({ physicalAddress, runs }: FoundPeer): DmaMemory {
  return peerMemory(runs.map(({ offsetBytes, lengthBytes }) => ({ iova: physicalAddress + offsetBytes, lengthBytes })))
}

/** Returns memory that consists of these runs of device addresses, in order. The CPU cannot access it. */
export function peerMemory(
  runs: readonly { readonly iova: number; readonly lengthBytes: number }[],
  release: () => void = () => undefined,
): DmaMemory {
  const segments: { offsetBytes: number; iova: number; lengthBytes: number }[] = []
  let offsetBytes = 0
  for (const { iova, lengthBytes } of runs) {
    const last = segments.at(-1)
    if (last !== undefined && last.iova + last.lengthBytes === iova) last.lengthBytes += lengthBytes
    else segments.push({ offsetBytes, iova, lengthBytes })
    offsetBytes += lengthBytes
  }
  return new SegmentedMemory(segments, offsetBytes, undefined, release)
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
