import type { Bar, BarWindow, NativeRegion } from '@gpunvme/nvme-spec/transport'
import { show } from '../check-options.js'
import type { PollingClock } from './polling-clock.js'

/** Access to registers. */
export type RegisterWindow = Pick<NativeRegion, 'lengthBytes' | 'load32' | 'store32' | 'load64'>

/** Access to registers until `unmap`. */
export interface MappedRegisters {
  readonly window: RegisterWindow
  /** Part of the registers, from offset 0, that is mapped into this process. */
  readonly mapped: BarWindow | undefined
  readonly unmap: () => void
}

/**
 * BAR0 as a mapped region. 64-bit registers are written as two dwords, low half first: an SN740 otherwise corrupts ASQ
 * (measured on the reference rig).
 */
export class RegionBar implements Bar {
  readonly lengthBytes: number
  private readonly registers: RegisterWindow
  private readonly mapped: BarWindow | undefined
  private readonly clock: Pick<PollingClock, 'touched'>
  private hasLeft = false

  /**
   * @param clock informed of every register write, since a completion may follow.
   * @param mapped part of the registers, from offset 0, that is mapped into this process.
   */
  constructor(registers: RegisterWindow, clock: Pick<PollingClock, 'touched'>, mapped?: BarWindow) {
    this.registers = registers
    this.mapped = mapped && { address: mapped.address, lengthBytes: mapped.lengthBytes }
    this.lengthBytes = registers.lengthBytes
    this.clock = clock
  }

  /** Makes all reads return all ones and all writes have no effect, as with a device that has left the bus. */
  leaveBus(): void {
    this.hasLeft = true
  }

  get window(): BarWindow | undefined {
    return this.hasLeft ? undefined : this.mapped
  }

  read32(offset: number): number {
    this.check(offset, 4)
    return this.hasLeft ? 0xffff_ffff : this.registers.load32(offset)
  }

  write32(offset: number, value: number): void {
    this.check(offset, 4)
    if (value >>> 0 !== value) throw new RangeError(`value: expected an integer from 0 to 2^32 - 1, got ${value}`)
    if (this.hasLeft) return
    this.registers.store32(offset, value)
    this.clock.touched()
  }

  read64(offset: number): bigint {
    this.check(offset, 8)
    return this.hasLeft ? 0xffff_ffff_ffff_ffffn : this.registers.load64(offset)
  }

  write64(offset: number, value: bigint): void {
    this.check(offset, 8)
    if (typeof value !== 'bigint' || value < 0n || value > 0xffff_ffff_ffff_ffffn)
      throw new RangeError(`value: expected a bigint from 0n to 2n ** 64n - 1n, got ${value}`)
    if (this.hasLeft) return
    this.registers.store32(offset, Number(value & 0xffff_ffffn))
    this.registers.store32(offset + 4, Number(value >> 32n))
    this.clock.touched()
  }

  private check(offset: number, widthBytes: number): void {
    if (Number.isInteger(offset) && offset >= 0 && offset % widthBytes === 0 && offset < this.lengthBytes) return
    const Wrong = typeof offset === 'number' ? RangeError : TypeError
    const expected = `a multiple of ${widthBytes} below 0x${this.lengthBytes.toString(16)}`
    throw new Wrong(`offset: expected ${expected}, got ${show(offset)}`)
  }
}
