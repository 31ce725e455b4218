import type { ConfigSpace } from '@gpunvme/nvme-spec/transport'
import { PciHeader } from '@gpunvme/nvme-spec/pci'

/** A Base Address Register with its assigned address. */
export interface PlacedBar {
  readonly bar: number
  readonly address: number
  readonly lengthBytes: number
}

/** A part of the address space without RAM, from which BARs get addresses: no firmware has assigned any. */
export class BarWindow {
  #next: number
  constructor(start: number) {
    this.#next = start
  }

  /** Returns an address that is aligned to the length, as BARs require. */
  take(lengthBytes: number): number {
    const address = Math.ceil(this.#next / lengthBytes) * lengthBytes
    this.#next = address + lengthBytes
    return address
  }
}

const { TP, RTE, PF } = PciHeader.BAR
const { MSE, BME } = PciHeader.CMD
const BARS = 6

/**
 * Assigns an address to every memory BAR of a function: from `large` to 64-bit prefetchable ones, from `small` to
 * others.
 */
export function placeBars(config: ConfigSpace, small: BarWindow, large: BarWindow): PlacedBar[] {
  const placed: PlacedBar[] = []
  for (let bar = 0; bar < BARS; bar++) {
    const offset = PciHeader.BAR.offset + 4 * bar
    // Bits that accept a one are those of the address, down to its alignment; the others give its kind.
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

/** Writes the addresses of BARs, at first and after a reset. Then enables memory access and DMA. */
export function restoreBars(config: ConfigSpace, placed: readonly PlacedBar[]): void {
  for (const { bar, address } of placed) {
    const offset = PciHeader.BAR.offset + 4 * bar
    config.write(offset, 4, address % 2 ** 32)
    if (TP.of(config.read(offset, 4)) === 2) config.write(offset + 4, 4, Math.floor(address / 2 ** 32))
  }
  config.write(PciHeader.CMD.offset, 2, (1 << MSE.lsb) | (1 << BME.lsb))
}
