import type { BarWindow, NativeRegion } from '@gpunvme/nvme-spec/transport'
import type { AddressRange } from './address-space.js'
import type { MappedRegisters, RegisterWindow } from './region-bar.js'

/** Access to registers that are not mapped. Offsets count from the start of the region. */
export interface UnmappedAccess {
  /** Fills `into`; leaves it unchanged if the device does not respond. */
  readonly read: (offset: number, into: Buffer) => void
  readonly write: (offset: number, bytes: Buffer) => void
}

/** Maps registers as far as they are mappable. @throws errors of `map`; nothing stays mapped then. */
export function mapWindow(...parts: ConstructorParameters<typeof RegionWindow>): MappedRegisters {
  const window = new RegionWindow(...parts)
  return { window, mapped: window.mapped, unmap: () => window.unmap() }
}

/** Registers of a device: loads and stores if they are mapped, slower accesses if not. */
class RegionWindow implements RegisterWindow {
  readonly lengthBytes: number
  private readonly unmapped: UnmappedAccess
  private readonly areas: { readonly start: number; readonly end: number; readonly region: NativeRegion }[] = []
  private readonly four = Buffer.alloc(4)
  private readonly eight = Buffer.alloc(8)

  /** @throws errors of `map`; nothing stays mapped then. */
  constructor(
    { lengthBytes, mappable }: { readonly lengthBytes: number; readonly mappable: readonly AddressRange[] },
    map: (area: AddressRange) => NativeRegion,
    unmapped: UnmappedAccess,
  ) {
    this.lengthBytes = lengthBytes
    this.unmapped = unmapped
    try {
      for (const area of mappable)
        this.areas.push({ start: area.start, end: area.start + area.lengthBytes, region: map(area) })
    } catch (error) {
      this.unmap()
      throw error
    }
  }

  load32(offset: number): number {
    const area = this.areaAt(offset)
    return area === undefined ? this.read(offset, this.four).readUInt32LE() : area.region.load32(offset - area.start)
  }

  store32(offset: number, value: number): void {
    const area = this.areaAt(offset)
    if (area !== undefined) {
      area.region.store32(offset - area.start, value)
      return
    }
    this.four.writeUInt32LE(value)
    this.unmapped.write(offset, this.four)
  }

  load64(offset: number): bigint {
    const area = this.areaAt(offset)
    return area === undefined
      ? this.read(offset, this.eight).readBigUInt64LE()
      : area.region.load64(offset - area.start)
  }

  /** Mapped part from offset 0; undefined if there is none. */
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

  /** Returns all ones if the device does not respond, as on the bus. */
  private read(offset: number, into: Buffer): Buffer {
    into.fill(0xff)
    this.unmapped.read(offset, into)
    return into
  }
}
