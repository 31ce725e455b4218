import type { Bar, NativeRegion } from '@gpunvme/nvme-spec/transport'

/**
 * BAR0 as a mapped region. 64-bit registers are written as two dwords, low half first: the SN740 corrupts ASQ otherwise,
 * measured on the reference rig.
 */
export class RegionBar implements Bar {
  readonly lengthBytes: number
  private readonly region: Pick<NativeRegion, 'lengthBytes' | 'load32' | 'store32' | 'load64'>
  private readonly written: () => void

  /** @param written called after every register write. */
  constructor(region: Pick<NativeRegion, 'lengthBytes' | 'load32' | 'store32' | 'load64'>, written: () => void) {
    this.region = region
    this.lengthBytes = region.lengthBytes
    this.written = written
  }

  read32(offset: number): number {
    this.check(offset, 4)
    return this.region.load32(offset)
  }

  write32(offset: number, value: number): void {
    this.check(offset, 4)
    if (value >>> 0 !== value) throw new RangeError(`value: expected an integer from 0 to 2^32 - 1, got ${value}`)
    this.region.store32(offset, value)
    this.written()
  }

  read64(offset: number): bigint {
    this.check(offset, 8)
    return this.region.load64(offset)
  }

  write64(offset: number, value: bigint): void {
    this.check(offset, 8)
    if (typeof value !== 'bigint' || value < 0n || value > 0xffff_ffff_ffff_ffffn)
      throw new RangeError(`value: expected a bigint from 0n to 2n ** 64n - 1n, got ${value}`)
    this.region.store32(offset, Number(value & 0xffff_ffffn))
    this.region.store32(offset + 4, Number(value >> 32n))
    this.written()
  }

  private check(offset: number, widthBytes: number): void {
    if (!Number.isInteger(offset) || offset < 0 || offset % widthBytes !== 0 || offset >= this.lengthBytes)
      throw new RangeError(
        `offset: expected a multiple of ${widthBytes} below 0x${this.lengthBytes.toString(16)}, got ${offset}`,
      )
  }
}
