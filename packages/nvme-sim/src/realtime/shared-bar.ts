import { DOORBELL_BASE, INTMC, INTMS } from '@gpunvme/nvme-spec'
import type { Bar } from '@gpunvme/nvme-spec/transport'
import { checkAccess } from '../transport.js'
import { POSTED, RING, RING_ENTRIES, TAKEN, wakeSimulator } from './control.js'
import type { RealTimeLayout } from './layout.js'

/** Looks at what the simulator has taken before the thread sleeps for it: a few microseconds. */
const SPINS = 2_000
const SLEEP_MS = 1

export interface SharedBarParts {
  readonly buffer: ArrayBufferLike
  readonly layout: RealTimeLayout
  readonly control: Int32Array
  /** Doorbells that the controller has, in dwords from the first. */
  readonly doorbellDwords: number
  readonly responseLimitMs: number
  /** The simulator gives no sign of life. */
  readonly giveUp: () => void
}

/**
 * The shared page as a JavaScript host's registers. Doorbells are stored there, as a native caller does. A write to any
 * other register is handed over by itself, so that each counts, as it was and in its order, whatever stands there; as on
 * PCIe it is posted, and the next read waits until it has been carried out.
 */
export class SharedBar implements Bar {
  readonly lengthBytes: number
  /** The simulator has ended: every read gives all ones. */
  isGone = false
  private readonly parts: SharedBarParts
  private readonly words: Uint32Array
  private posted = 0

  constructor(parts: SharedBarParts) {
    const { buffer, layout } = parts
    this.parts = parts
    this.lengthBytes = layout.barBytes
    this.words = new Uint32Array(buffer, layout.barOffsetBytes, layout.barBytes / 4)
  }

  read32(offset: number): number {
    checkAccess(offset, 4, this.lengthBytes)
    this.waitForRoom(0)
    if (this.isGone) return 0xffff_ffff
    // What a doorbell reads as is not defined.
    if (offset >= DOORBELL_BASE) return 0
    // Both read as the mask; in the page only one does.
    return Atomics.load(this.words, (offset === INTMC.offset ? INTMS.offset : offset) >> 2)
  }

  write32(offset: number, value: number): void {
    checkAccess(offset, 4, this.lengthBytes)
    const { control, doorbellDwords } = this.parts
    const doorbell = (offset - DOORBELL_BASE) / 4
    if (doorbell >= 0 && doorbell < doorbellDwords) {
      this.waitForRoom(0)
      Atomics.store(this.words, offset >> 2, value)
    } else {
      this.waitForRoom(RING_ENTRIES - 1)
      if (this.isGone) return
      const at = RING + 2 * ((this.posted >>> 0) % RING_ENTRIES)
      control[at] = offset
      control[at + 1] = value
      this.posted = (this.posted + 1) | 0
      Atomics.store(control, POSTED, this.posted)
    }
    wakeSimulator(control)
  }

  read64(offset: number): bigint {
    checkAccess(offset, 8, this.lengthBytes)
    return BigInt(this.read32(offset)) | (BigInt(this.read32(offset + 4)) << 32n)
  }

  write64(offset: number, value: bigint): void {
    checkAccess(offset, 8, this.lengthBytes)
    this.write32(offset, Number(value & 0xffff_ffffn))
    this.write32(offset + 4, Number(value >> 32n))
  }

  /** Every read of a device that is not there any more gives all ones, to native callers too. */
  leave(): void {
    this.isGone = true
    this.words.fill(0xffff_ffff)
  }

  /** Waits until at most `most` writes are still to be carried out; gives the simulator up when that takes too long. */
  private waitForRoom(most: number): void {
    const { control, responseLimitMs, giveUp } = this.parts
    let deadlineMs = 0
    for (let spins = 0; !this.isGone; spins++) {
      const taken = Atomics.load(control, TAKEN)
      if (((this.posted - taken) | 0) <= most) return
      if (spins < SPINS) continue
      if (spins === SPINS) deadlineMs = performance.now() + responseLimitMs
      else if (performance.now() > deadlineMs) giveUp()
      Atomics.wait(control, TAKEN, taken, SLEEP_MS)
    }
  }
}
