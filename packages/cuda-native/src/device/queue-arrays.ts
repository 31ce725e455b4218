import { cidOf, cidSlotBits, generationOfCid, type MemoryRuns } from '@gpunvme/nvme-spec/engine'
import type { QueuePairMemory } from '@gpunvme/nvme-spec/transport'
import { CID_SHIFT, encode, SLOT, TAKEN } from './layout.js'

const CID_MASK = 0xffffn
const WORD_BYTES = 4
const ADDRESS_BYTES = 8

/** Offsets of a queue's arrays, in bytes. */
export interface ArrayPlaces {
  readonly slots: number
  readonly iovas: number
  readonly ready: number
  readonly freeSlots: number
  readonly end: number
}

/** Returns where the arrays of a queue go, from byte `start` on, which is a multiple of 16. */
export function placeArrays(queue: QueuePairMemory, runs: MemoryRuns, start: number): ArrayPlaces {
  const slots = start
  const iovas = slots + queue.maxInFlight * SLOT.bytes
  const ready = iovas + runs.iovas.length * ADDRESS_BYTES
  const freeSlots = ready + queue.sqEntries * WORD_BYTES
  const end = freeSlots + queue.sqEntries * WORD_BYTES
  return { slots, iovas, ready, freeSlots, end: Math.ceil(end / SLOT.bytes) * SLOT.bytes }
}

/**
 * Writes the arrays as `gnv_init_queue` does, for a queue without commands in flight. Identifiers continue, so that a late
 * completion is not taken for that of a new command.
 */
export function writeArrays(view: DataView, places: ArrayPlaces, queue: QueuePairMemory, runs: MemoryRuns): void {
  const { maxInFlight, generations, sqEntries } = queue
  const slotBits = cidSlotBits(maxInFlight)
  for (let slot = 0; slot < maxInFlight; slot++) {
    const cid = BigInt(cidOf(generations[slot]!, slot, slotBits))
    encode(SLOT, view, places.slots + slot * SLOT.bytes, { outcome: TAKEN | (cid << CID_SHIFT) })
  }
  runs.iovas.forEach((iova, index) => view.setBigUint64(places.iovas + index * ADDRESS_BYTES, iova, true))
  for (let index = 0; index < sqEntries; index++) {
    view.setUint32(places.ready + index * WORD_BYTES, 0, true)
    view.setUint32(places.freeSlots + index * WORD_BYTES, index < maxInFlight ? index + 1 : 0, true)
  }
}

/** Stores how often each slot was used, by the identifiers that kernels used last. */
export function readGenerations(
  view: DataView,
  places: ArrayPlaces,
  { maxInFlight, generations }: QueuePairMemory,
): void {
  const slotBits = cidSlotBits(maxInFlight)
  for (let slot = 0; slot < maxInFlight; slot++) {
    const outcome = view.getBigUint64(places.slots + slot * SLOT.bytes + SLOT.members.outcome[0], true)
    generations[slot] = generationOfCid(Number((outcome >> CID_SHIFT) & CID_MASK), slotBits)
  }
}
