import type { DmaAllocator } from '@gpunvme/nvme-spec/transport'
import { prpsOf } from '../conformance/raw-host/prps.js'
import { Region } from './region.js'
import { MAX_DATA_BYTES } from './scenario.js'

const PAGE_BYTES = 4096
/** Initial value of a buffer, so that bytes that were never written are recognizable. */
export const UNWRITTEN = 0xa5

/** Maximum metadata of one command: 64 bytes for each block, at the maximum number of 512-byte blocks. */
const MAX_METADATA_BYTES = MAX_DATA_BYTES / 8

/** A buffer for one command's data, with the page for its PRP list or SGL, and a buffer for its metadata. */
export class BufferSlot {
  readonly data: Region
  readonly list: Region
  private readonly dma: DmaAllocator
  private separate: Region | undefined

  constructor(dma: DmaAllocator, name: string, lengthBytes: number) {
    this.dma = dma
    // One more page for the offset of the data, and one for SGLs that are longer than the data.
    this.data = new Region(dma, name, lengthBytes + 2 * PAGE_BYTES, false)
    this.list = new Region(dma, `the PRP list of ${name}`, PAGE_BYTES, true)
  }

  /** The buffer for metadata, allocated on first use. */
  get metadata(): Region {
    this.separate ??= new Region(this.dma, `the metadata of ${this.data.name}`, MAX_METADATA_BYTES, true)
    return this.separate
  }

  check(): void {
    this.data.check()
    this.list.check()
    this.separate?.check()
  }

  /** Refills the buffer for the next command. */
  clear(): void {
    for (const region of [this.data, this.separate]) {
      region?.bytes.fill(UNWRITTEN)
      region?.accept()
    }
  }

  /** Accepts the current content as expected: the controller must not change the buffer from now on. */
  accept(): void {
    this.data.accept()
    this.separate?.accept()
  }

  /** Returns PRP1 and PRP2 for `lengthBytes` bytes from `offsetBytes`. */
  prps(offsetBytes: number, lengthBytes: number): [prp1: number, prp2: number] {
    const found = prpsOf(this.data, offsetBytes, lengthBytes, PAGE_BYTES, () => this.list)
    this.list.accept()
    return found
  }
}

/** Lengths of buffers. Small buffers, which most commands need, are faster to check. */
const LENGTHS = [8192, 20_480, MAX_DATA_BYTES] as const

/** The host's buffers: one per outstanding command. */
export class Buffers {
  private readonly dma: DmaAllocator
  private made = 0
  /** Buffers that are not lent to the controller, by length. */
  private readonly free: readonly BufferSlot[][] = LENGTHS.map(() => [])
  private readonly lengthOf = new Map<BufferSlot, number>()

  constructor(dma: DmaAllocator) {
    this.dma = dma
  }

  /** Returns a free buffer for `lengthBytes` bytes; checks that it was not changed, and refills it. */
  take(lengthBytes: number): BufferSlot {
    const index = LENGTHS.findIndex((length) => length >= lengthBytes)
    let slot = this.free[index]!.pop()
    if (slot === undefined) {
      slot = new BufferSlot(this.dma, `buffer ${this.made++}`, LENGTHS[index]!)
      this.lengthOf.set(slot, index)
    }
    slot.check()
    slot.clear()
    return slot
  }

  /** Frees a buffer: the controller must not change it from now on. */
  give(slot: BufferSlot): void {
    slot.accept()
    this.free[this.lengthOf.get(slot)!]!.push(slot)
  }

  /** Checks every buffer that is not lent to the controller. */
  check(): void {
    for (const slot of this.free.flat()) slot.check()
  }
}
