import { cidOf, cidSlotBits, slotOfCid } from '@gpunvme/nvme-spec/engine'
import { advance } from './ring.js'

/**
 * Command identifiers with a slot in the low bits and the slot's generation above it. A completion is credited to a
 * command only if both match, so a late, duplicate or foreign one matches no command. (Base 2.1 §4.1.1 only requires a
 * CID to be unique while outstanding, and advises against FFFFh.)
 */
export class CommandIds {
  readonly slots: number
  private readonly slotBits: number
  private readonly generation: Uint16Array
  private readonly outstanding: Uint8Array
  /**
   * Ring of free slots: the slot that has been free longest is next, so that an identifier is reused as late as
   * possible.
   */
  private readonly freeSlots: Uint16Array
  private nextFree = 0
  private freeCount: number

  /**
   * @param generation of each slot, updated in place, so that a later user reuses no identifier too soon.
   * @throws RangeError for no slots, or more than MAX_IN_FLIGHT.
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

  /** Slot that `take` returns next; meaningless if none is free. */
  get next(): number {
    return this.freeSlots[this.nextFree]!
  }

  /** Takes a free slot, which is then outstanding; -1 if there is none. */
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

  /** Returns the outstanding slot of an identifier; -1 for a stale, duplicate or foreign one. */
  ownerOf(cid: number): number {
    const slot = slotOfCid(cid, this.slotBits)
    return slot < this.slots && this.outstanding[slot] === 1 && this.cidOf(slot) === cid ? slot : -1
  }

  /** Frees the slot of a completed command for use under another identifier. */
  release(slot: number): void {
    this.abandon(slot)
    this.reclaim(slot)
  }

  /**
   * Gives a command up. Its identifier is no longer accepted. Its slot, with the PRP list and memory that the
   * controller may still use, is not reused before `reclaim`.
   */
  abandon(slot: number): void {
    this.outstanding[slot] = 0
    this.generation[slot]!++
  }

  /** Frees the slot of a command that was given up and that the controller has finished. */
  reclaim(slot: number): void {
    this.freeSlots[(this.nextFree + this.freeCount++) % this.slots] = slot
  }
}
