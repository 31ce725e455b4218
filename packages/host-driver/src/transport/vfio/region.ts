import { readSync, writeSync } from 'node:fs'
import type { BarWindow, HardwareHost, NativeRegion } from '@gpunvme/nvme-spec/transport'
import type { AddressRange } from '../address-space.js'
import type { RegisterWindow } from '../region-bar.js'
import { CAPABILITY, RegionInfo, VFIO } from './abi.js'
import { ask, capabilityChain, pairs } from './argument.js'

/** Where a region lies in the device's file, and which parts of it can be mapped. Offsets are Numbers: they are below 2^53. */
export interface VfioRegion {
  readonly lengthBytes: number
  readonly fileOffset: number
  /** Counted from the start of the region; the whole of it where it may be mapped without exceptions. */
  readonly mappable: readonly AddressRange[]
}

/** Asks a device for a region. @throws VfioError */
export function regionInfo(host: HardwareHost, device: number, index: number): VfioRegion {
  const request = ['DEVICE_GET_REGION_INFO', VFIO.DEVICE_GET_REGION_INFO] as const
  const data = ask(host, device, request, RegionInfo, { INDEX: index })
  const { FLAGS, CAP_OFFSET, SIZE, OFFSET } = RegionInfo.view(data)
  const lengthBytes = Number(SIZE)
  const whole = { lengthBytes, fileOffset: Number(OFFSET), mappable: [{ start: 0, lengthBytes }] }
  if (RegionInfo.FLAGS.MMAP.of(FLAGS) === 0) return { ...whole, mappable: [] }
  if (RegionInfo.FLAGS.CAPS.of(FLAGS) === 0) return whole
  // Older kernels leave out the pages of the MSI-X Table.
  const sparse = capabilityChain(data, CAP_OFFSET).get(CAPABILITY.SPARSE_MMAP)
  if (sparse === undefined) return whole
  const areas = pairs(data, sparse).map(([start, size]) => ({ start: Number(start), lengthBytes: Number(size) }))
  return { ...whole, mappable: areas.filter((area) => area.lengthBytes > 0) }
}

/** Registers of a device: loads and stores where they are mapped, pread and pwrite where not (some 100 µs each). */
export class VfioWindow implements RegisterWindow {
  readonly lengthBytes: number
  private readonly device: number
  private readonly fileOffset: number
  private readonly areas: { readonly start: number; readonly end: number; readonly region: NativeRegion }[] = []
  private readonly bytes = Buffer.alloc(8)

  /** @throws what `host.map` throws; nothing stays mapped then. */
  constructor(host: HardwareHost, device: number, { lengthBytes, fileOffset, mappable }: VfioRegion) {
    this.lengthBytes = lengthBytes
    this.device = device
    this.fileOffset = fileOffset
    try {
      for (const { start, lengthBytes: length } of mappable) {
        const region = host.map(device, fileOffset + start, length, 'read-write')
        this.areas.push({ start, end: start + length, region })
      }
    } catch (error) {
      this.unmap()
      throw error
    }
  }

  load32(offset: number): number {
    const area = this.areaAt(offset)
    return area === undefined ? this.read(offset, 4).readUInt32LE() : area.region.load32(offset - area.start)
  }

  store32(offset: number, value: number): void {
    const area = this.areaAt(offset)
    if (area !== undefined) {
      area.region.store32(offset - area.start, value)
      return
    }
    this.bytes.writeUInt32LE(value)
    whileThere(() => writeSync(this.device, this.bytes, 0, 4, this.fileOffset + offset))
  }

  load64(offset: number): bigint {
    const area = this.areaAt(offset)
    return area === undefined ? this.read(offset, 8).readBigUInt64LE() : area.region.load64(offset - area.start)
  }

  /** The part from offset 0 on that is mapped; undefined where it is none. */
  get mapped(): BarWindow | undefined {
    const first = this.areas.find(({ start }) => start === 0)
    return first && { address: first.region.address, lengthBytes: first.end }
  }

  unmap(): void {
    for (const { region } of this.areas) region.unmap()
  }

  private areaAt(offset: number) {
    return this.areas.find(({ start, end }) => offset >= start && offset < end)
  }

  /** All ones where the device does not answer, as on the bus. */
  private read(offset: number, lengthBytes: number): Buffer {
    this.bytes.fill(0xff)
    whileThere(() => readSync(this.device, this.bytes, 0, lengthBytes, this.fileOffset + offset))
    return this.bytes
  }
}

/** EIO is what the kernel says of memory that is disabled or gone. */
function whileThere(access: () => void): void {
  try {
    access()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EIO' && (error as NodeJS.ErrnoException).code !== 'ENODEV')
      throw error
  }
}
