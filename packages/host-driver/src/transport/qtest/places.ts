import type { ConfigSpace } from '@gpunvme/nvme-spec/transport'
import { PciHeader } from '@gpunvme/nvme-spec/pci'

/** A Base Address Register with the address that it was given. */
export interface PlacedBar {
  readonly bar: number
  readonly address: number
  readonly lengthBytes: number
}

/** No firmware has run, so that the addresses of BARs are ours to give: a part of the address space without RAM. */
export class BarWindow {
  #next: number
  constructor(start: number) {
    this.#next = start
  }

  /** Addresses are aligned to their length, as BARs want it. */
  take(lengthBytes: number): number {
    const address = Math.ceil(this.#next / lengthBytes) * lengthBytes
    this.#next = address + lengthBytes
    return address
  }
}

const { TP, RTE, PF } = PciHeader.BAR
const { MSE, BME } = PciHeader.CMD
const BARS = 6

/** Gives every memory BAR of a function an address: 64-bit prefetchable ones of `large`, the others of `small`. */
export function placeBars(config: ConfigSpace, small: BarWindow, large: BarWindow): PlacedBar[] {
  const placed: PlacedBar[] = []
  for (let bar = 0; bar < BARS; bar++) {
    const offset = PciHeader.BAR.offset + 4 * bar
    // The bits that take a one are those of the address, down to its alignment; the others say what kind it is.
    config.write(offset, 4, 0xffff_ffff)
    const low = config.read(offset, 4)
    if (low === 0 || RTE.of(low) === 1) continue
    const isWide = TP.of(low) === 2
    let high = 0xffff_ffff
    if (isWide) {
      config.write(offset + 4, 4, 0xffff_ffff)
      high = config.read(offset + 4, 4)
    }
    const mask = (BigInt(high) << 32n) | BigInt((low & ~0xf) >>> 0)
    const lengthBytes = Number(BigInt.asUintN(64, -mask))
    const isPrefetchable = PF.of(low) === 1
    placed.push({ bar, lengthBytes, address: (isWide && isPrefetchable ? large : small).take(lengthBytes) })
    if (isWide) bar++
  }
  restoreBars(config, placed)
  return placed
}

/** Gives BARs the addresses they had: after a reset, or for the first time. Then memory access and DMA are enabled. */
export function restoreBars(config: ConfigSpace, placed: readonly PlacedBar[]): void {
  for (const { bar, address } of placed) {
    const offset = PciHeader.BAR.offset + 4 * bar
    config.write(offset, 4, address % 2 ** 32)
    if (TP.of(config.read(offset, 4)) === 2) config.write(offset + 4, 4, Math.floor(address / 2 ** 32))
  }
  config.write(PciHeader.CMD.offset, 2, (1 << MSE.lsb) | (1 << BME.lsb))
}
