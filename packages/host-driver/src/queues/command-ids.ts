import { cidOf, cidSlotBits, slotOfCid } from '@gpunvme/nvme-spec/engine'
import { advance } from './ring.js'

/**
 * Command identifiers with a memory: a slot in the low bits, the slot's generation above it. A completion is
 * credited to a command only when both agree, so one that comes late, twice or from nowhere finds no owner.
 * (Base 2.1 §4.1.1 asks only that a CID is unique while outstanding, and advises against FFFFh.)
 */
export class CommandIds {
  readonly slots: number
  private readonly slotBits: number
  private readonly generation: Uint16Array
  private readonly outstanding: Uint8Array
  /** A ring: the slot that has been free for longest goes next, so that an identifier comes again as late as can be. */
  private readonly freeSlots: Uint16Array
  private nextFree = 0
  private freeCount: number

  /**
   * @param generation of each slot, used and rolled on in place: who comes after uses no identifier again too soon.
   * @throws RangeError for no slots, or more than MOST_IN_FLIGHT.
   */
  constructor(slots: number, generation: Uint16Array = new Uint16Array(slots)) {
    this.slots = slots
    this.slotBits = cidSlotBits(slots)
    this.generation = generation
    this.outstanding = new Uint8Array(slots)
    this.freeSlots = Uint16Array.from({ length: slots }, (_, index) => index)
    this.freeCount = slots
  }

  get free(): number {
    return this.freeCount
  }

  /** The slot that `take` will give; of no meaning when none is free. */
  get next(): number {
    return this.freeSlots[this.nextFree]!
  }

  /** A free slot, now outstanding; -1 when all are. */
  take(): number {
    if (this.freeCount === 0) return -1
    const slot = this.freeSlots[this.nextFree]!
    this.nextFree = advance(this.nextFree, this.slots)
    this.freeCount--
    this.outstanding[slot] = 1
    return slot
  }

  cidOf(slot: number): number {
    return cidOf(this.generation[slot]!, slot, this.slotBits)
  }

  /** The outstanding slot that this identifier belongs to; -1 for a stale, duplicate or foreign one. */
  ownerOf(cid: number): number {
    const slot = slotOfCid(cid, this.slotBits)
    return slot < this.slots && this.outstanding[slot] === 1 && this.cidOf(slot) === cid ? slot : -1
  }

  /** The command of this slot has completed: the slot may be used again, under another identifier. */
  release(slot: number): void {
    this.abandon(slot)
    this.reclaim(slot)
  }

  /**
   * The command was given up: its identifier is no longer honoured, and the slot - with the PRP list and the memory
   * that the controller may still use - is not handed out again before it is reclaimed.
   */
  abandon(slot: number): void {
    this.outstanding[slot] = 0
    this.generation[slot]!++
  }

  /** The controller is done with a command that was given up. */
  reclaim(slot: number): void {
    this.freeSlots[(this.nextFree + this.freeCount++) % this.slots] = slot
  }
}
