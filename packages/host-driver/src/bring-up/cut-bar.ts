import type { Bar } from '@gpunvme/nvme-spec/transport'

/**
 * Registers of a controller until it is lost. From then on, reads return all ones and writes have no effect, as with a
 * device that has left the bus.
 */
export class CutBar implements Bar {
  readonly lengthBytes: number
  private readonly bar: Bar
  private cut = false

  constructor(bar: Bar) {
    this.bar = bar
    this.lengthBytes = bar.lengthBytes
  }

  cutOff(): void {
    this.cut = true
  }

  get isCut(): boolean {
    return this.cut
  }

  read32(offset: number): number {
    return this.cut ? 0xffff_ffff : this.bar.read32(offset)
  }

  write32(offset: number, value: number): void {
    if (!this.cut) this.bar.write32(offset, value)
  }

  read64(offset: number): bigint {
    return this.cut ? 0xffff_ffff_ffff_ffffn : this.bar.read64(offset)
  }

  write64(offset: number, value: bigint): void {
    if (!this.cut) this.bar.write64(offset, value)
  }
}
