import { CC, CSTS, INTMC, registers } from '@gpunvme/nvme-spec'
import type { Controller } from '../controller/controller.js'
import type { Device } from '../controller/device.js'

const ALL_ONES = -1

/** Dword offsets of all registers, CSTS last: what it announces is stored before it. */
const offsets = registers
  .flatMap(({ offset, widthBits }) => (widthBits === 64 ? [offset, offset + 4] : [offset]))
  .sort((a, b) => Number(a === CSTS.offset) - Number(b === CSTS.offset) || a - b)

/**
 * The registers as plain memory. The simulator stores their values, and treats a dword that differs from what it stored
 * as a write by the host. Rules for native callers:
 * - Storing the value that is already there is not seen. This matters only for writing 1 to CSTS.NSSRO: store it
 *   together with a reserved bit.
 * - Of two stores to one dword between two polls, only the last is seen. Wait for CSTS.RDY after each change of CC.EN,
 *   as the specification requires, and for a register that is set or cleared by ones, until it reads as expected.
 * - Faults of register accesses apply to accesses of a JavaScript host, and to stores of others, but not to their
 *   loads.
 * - INTMC reads 0h here, so that each store to it is seen; the mask is in INTMS.
 * - The halves of ASQ and ACQ may be written in any order: they are not used before CC.EN. CC is read first and applied
 *   last, so that everything stored before it counts.
 */
export class RegisterPage {
  private readonly words: Int32Array
  private readonly device: Device
  private readonly controller: Controller
  /** Contents of the page, except for later stores of the host. */
  private readonly shown: Int32Array
  private shownVersion = -1
  private shownAnswers = true

  constructor(words: Int32Array, device: Device, controller: Controller) {
    this.words = words
    this.device = device
    this.controller = controller
    this.shown = new Int32Array(words.length)
  }

  /** Processes stores of the host; returns false if there were none. */
  scan(): boolean {
    const configuration = Atomics.load(this.words, CC.offset >> 2)
    let found = false
    for (const offset of offsets) {
      if (offset !== CC.offset && this.take(offset, Atomics.load(this.words, offset >> 2))) found = true
    }
    if (this.take(CC.offset, configuration)) found = true
    if (found) this.show()
    return found
  }

  /** Stores changed registers; returns false if there were none. */
  publish(): boolean {
    const { registers: file, pci } = this.device
    if (file.version === this.shownVersion && pci.answers === this.shownAnswers) return false
    this.show()
    return true
  }

  private take(offset: number, value: number): boolean {
    const index = offset >> 2
    if (value === this.shown[index]) return false
    this.shown[index] = value
    this.controller.write32(offset, value >>> 0)
    return true
  }

  private show(): void {
    const { words, shown } = this
    const { registers: file, pci } = this.device
    this.shownVersion = file.version
    this.shownAnswers = pci.answers
    for (const offset of offsets) {
      const index = offset >> 2
      const value = !pci.answers ? ALL_ONES : offset === INTMC.offset ? 0 : file.read(offset) | 0
      const before = shown[index]!
      // A store of the host in between stays, and is found by the next scan.
      if (value !== before && Atomics.compareExchange(words, index, before, value) === before) shown[index] = value
    }
  }
}
