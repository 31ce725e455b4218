import { readSync, writeSync } from 'node:fs'
import type { HardwareHost } from '@gpunvme/nvme-spec/transport'
import { VfioRegionInfo } from '@gpunvme/nvme-spec/vfio-user'
import type { MappedRegisters } from '../region-bar.js'
import { mapWindow } from '../region-window.js'
import { regionOf, type VfioRegion } from '../vfio-answers.js'
import { VFIO } from './abi.js'
import { ask } from './argument.js'

/** Queries a region of a device. @throws DriverError (VFIO) */
export function regionInfo(host: HardwareHost, device: number, index: number): VfioRegion {
  const request = ['DEVICE_GET_REGION_INFO', VFIO.DEVICE_GET_REGION_INFO] as const
  return regionOf(ask(host, device, request, VfioRegionInfo, { INDEX: index }))
}

/** Maps registers of a device: loads and stores if they are mapped, pread and pwrite if not (some 100 µs each). */
export function mapRegion(host: HardwareHost, device: number, region: VfioRegion): MappedRegisters {
  const { fileOffset } = region
  const map = ({ start, lengthBytes }: VfioRegion['mappable'][number]) =>
    host.map(device, fileOffset + start, lengthBytes, 'read-write')
  return mapWindow(region, map, {
    read(offset, into) {
      whileThere(() => readSync(device, into, 0, into.length, fileOffset + offset))
    },
    write(offset, bytes) {
      whileThere(() => writeSync(device, bytes, 0, bytes.length, fileOffset + offset))
    },
  })
}

/** Ignores EIO, which the kernel returns for memory that is disabled or gone, and ENODEV. */
function whileThere(access: () => void): void {
  try {
    access()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EIO' && (error as NodeJS.ErrnoException).code !== 'ENODEV')
      throw error
  }
}
