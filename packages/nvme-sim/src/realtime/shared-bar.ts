import { INTMC, INTMS, registers } from '@gpunvme/nvme-spec'
import type { Bar, BarWindow } from '@gpunvme/nvme-spec/transport'
import { checkAccess, checkWrite32, checkWrite64 } from '../transport.js'
import { EVERY_ACCESS, REGISTER_READ, REGISTER_WRITE } from './control.js'
import type { RealTimeLayout } from './layout.js'
import type { Mailbox } from './mailbox.js'

/** Registers that the page shows as they are, by dword: all except the two that share a mask. */
const shown = new Set(
  registers
    .filter(({ offset }) => offset !== INTMS.offset && offset !== INTMC.offset)
    .flatMap(({ offset, widthBits }) => (widthBits === 64 ? [offset, offset + 4] : [offset])),
)

/**
 * BAR0 for a JavaScript host. Reads load from the page. All writes, including doorbells, are passed to the simulator:
 * in plain memory it would see only the last of two writes, and no write of an unchanged value, so that a test could
 * miss a driver's mistake.
 */
export class SharedBar implements Bar {
  readonly lengthBytes: number
  /** Only for native memory; other memory has no known address. */
  readonly window: BarWindow | undefined
  private readonly words: Int32Array
  private readonly mailbox: Mailbox

  /** @param address address of the shared memory's first byte, for native memory. */
  constructor(buffer: ArrayBufferLike, layout: RealTimeLayout, mailbox: Mailbox, address?: bigint) {
    this.lengthBytes = layout.barBytes
    this.window =
      address === undefined
        ? undefined
        : { address: address + BigInt(layout.barOffsetBytes), lengthBytes: layout.barBytes, isMemory: true }
    this.words = new Int32Array(buffer, layout.barOffsetBytes, layout.barBytes / 4)
    this.mailbox = mailbox
  }

  read32(offset: number): number {
    checkAccess(offset, 4, this.lengthBytes)
    const { mailbox, words } = this
    mailbox.settle()
    if (mailbox.isGone) return 0xffff_ffff
    if (shown.has(offset) && mailbox.control[EVERY_ACCESS] === 0) return Atomics.load(words, offset >> 2) >>> 0
    return mailbox.ask(REGISTER_READ, offset) ?? 0xffff_ffff
  }

  write32(offset: number, value: number): void {
    checkAccess(offset, 4, this.lengthBytes)
    checkWrite32(offset, value)
    this.mailbox.post(REGISTER_WRITE, offset, value)
  }

  read64(offset: number): bigint {
    checkAccess(offset, 8, this.lengthBytes)
    return BigInt(this.read32(offset)) | (BigInt(this.read32(offset + 4)) << 32n)
  }

  write64(offset: number, value: bigint): void {
    checkAccess(offset, 8, this.lengthBytes)
    checkWrite64(offset, value)
    this.write32(offset, Number(value & 0xffff_ffffn))
    this.write32(offset + 4, Number(value >> 32n))
  }

  /** Makes every load of a device that has left return all ones, for native callers too. */
  leave(): void {
    this.mailbox.isGone = true
    this.words.fill(-1)
  }
}
