import type { DmaAllocator } from '@gpunvme/nvme-spec/transport'
import { prpsOf } from '../conformance/raw-host/prps.js'
import { Region } from './region.js'
import { MOST_DATA_BYTES } from './scenario.js'

const PAGE_BYTES = 4096
/** Initial value of a buffer, so that bytes that were never written are recognizable. */
export const UNWRITTEN = 0xa5

/** A buffer for one command's data, with the page for its PRP list. */
export class BufferSlot {
  readonly data: Region
  private readonly list: Region

  constructor(dma: DmaAllocator, name: string) {
    this.data = new Region(dma, name, MOST_DATA_BYTES + PAGE_BYTES, false)
    this.list = new Region(dma, `the PRP list of ${name}`, PAGE_BYTES, true)
  }

  check(): void {
    this.data.check()
    this.list.check()
  }

  /** Returns PRP1 and PRP2 for `lengthBytes` bytes from `offsetBytes`. */
  prps(offsetBytes: number, lengthBytes: number): [prp1: number, prp2: number] {
    const found = prpsOf(this.data, offsetBytes, lengthBytes, PAGE_BYTES, () => this.list)
    this.list.accept()
    return found
  }
}

/** The host's buffers: one per outstanding command. */
export class Buffers {
  private readonly dma: DmaAllocator
  private readonly all: BufferSlot[] = []
  private readonly free: BufferSlot[] = []

  constructor(dma: DmaAllocator) {
    this.dma = dma
  }

  /** Returns a free buffer, after checking that it is unchanged, and refills it. */
  take(): BufferSlot {
    let slot = this.free.pop()
    if (slot === undefined) {
      slot = new BufferSlot(this.dma, `buffer ${this.all.length}`)
      this.all.push(slot)
    }
    slot.check()
    slot.data.bytes.fill(UNWRITTEN)
    slot.data.accept()
    return slot
  }

  /** Takes a buffer back: the controller must not change it any more. */
  give(slot: BufferSlot): void {
    slot.data.accept()
    this.free.push(slot)
  }

  /** Checks every buffer that is not lent to the controller. */
  check(): void {
    for (const slot of this.free) slot.check()
  }
}
