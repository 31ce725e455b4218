import { cidOf, cidSlotBits, generationOfCid, type MemoryRuns } from '@gpunvme/nvme-spec/engine'
import type { QueuePairMemory } from '@gpunvme/nvme-spec/transport'
import { CID_SHIFT, encode, HALTED, QUEUE, RUNNING, SLOT, TAKEN, type Values } from './layout.js'

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

/** The GPU's addresses of a queue's memory and doorbells. */
export interface QueueAddresses {
  readonly sq: bigint
  readonly cq: bigint
  readonly prpLists: bigint
  readonly tailDoorbell: bigint
  readonly headDoorbell: bigint
  /** The memory in which the arrays are placed. */
  readonly arrays: bigint
}

/** Returns the offsets of a queue's arrays, placed from byte `start` on, a multiple of 16. */
export function placeArrays(queue: QueuePairMemory, runs: MemoryRuns, start: number): ArrayPlaces {
  const slots = start
  const iovas = slots + queue.maxInFlight * SLOT.bytes
  const ready = iovas + runs.iovas.length * ADDRESS_BYTES
  const freeSlots = ready + queue.sqEntries * WORD_BYTES
  const end = freeSlots + queue.sqEntries * WORD_BYTES
  return { slots, iovas, ready, freeSlots, end: Math.ceil(end / SLOT.bytes) * SLOT.bytes }
}

/**
 * Writes the arrays as `gnv_init_queue` does, for a queue without commands in flight. Command identifiers continue, so that a
 * late completion is not taken for that of a new command.
 */
export function writeArrays(view: DataView, places: ArrayPlaces, queue: QueuePairMemory, runs: MemoryRuns): void {
  const { maxInFlight, generations, sqEntries } = queue
  const slotBits = cidSlotBits(maxInFlight)
  for (let slot = 0; slot < maxInFlight; slot++) {
    const cid = BigInt(cidOf(generations[slot]! - 1, slot, slotBits))
    encode(SLOT, view, places.slots + slot * SLOT.bytes, { outcome: TAKEN | (cid << CID_SHIFT) })
  }
  runs.iovas.forEach((iova, index) => view.setBigUint64(places.iovas + index * ADDRESS_BYTES, iova, true))
  for (let index = 0; index < sqEntries; index++) {
    view.setUint32(places.ready + index * WORD_BYTES, 0, true)
    view.setUint32(places.freeSlots + index * WORD_BYTES, index < maxInFlight ? index + 1 : 0, true)
  }
}

/** Sets each slot's generation to the successor of that in the last command identifier that kernels used. */
export function readGenerations(
  view: DataView,
  places: ArrayPlaces,
  { maxInFlight, generations }: QueuePairMemory,
): void {
  const slotBits = cidSlotBits(maxInFlight)
  for (let slot = 0; slot < maxInFlight; slot++) {
    const outcome = view.getBigUint64(places.slots + slot * SLOT.bytes + SLOT.members.outcome[0], true)
    const last = generationOfCid(Number((outcome >> CID_SHIFT) & CID_MASK), slotBits)
    generations[slot] = (last + 1) & (0xffff >>> slotBits)
  }
}

/** Returns the words of a `gnv_queue` at the rings' positions: as `gnv_init_queue` sets them, if the rings are new. */
export function queueWords(
  queue: QueuePairMemory,
  { shift }: MemoryRuns,
  places: ArrayPlaces,
  addresses: QueueAddresses,
): Values<typeof QUEUE> {
  const { sqEntries, sqTail, cq, maxInFlight } = queue
  const at = (offset: number) => addresses.arrays + BigInt(offset)
  // The Phase Tag of a lap is the inverse of this bit of the position.
  const cqHead = cq.head + (cq.phase === 1 ? 0 : cq.entries)
  // Without a reset, the controller may still execute commands of kernels that were cut off: their slots are not free.
  const isIdle = sqTail === cq.head
  return {
    sq: addresses.sq,
    cq: addresses.cq,
    tail_doorbell: addresses.tailDoorbell,
    head_doorbell: addresses.headDoorbell,
    prp_lists: addresses.prpLists,
    'prp_list_runs.iovas': at(places.iovas),
    'prp_list_runs.shift': shift,
    slots: at(places.slots),
    ready: at(places.ready),
    free_slots: at(places.freeSlots),
    entries: sqEntries,
    slot_count: maxInFlight,
    slot_bits: cidSlotBits(maxInFlight),
    qid: queue.qid,
    prp_list_bytes: queue.prpListBytes,
    page_bytes: queue.pageBytes,
    state: isIdle ? RUNNING : HALTED,
    free_count: maxInFlight,
    free_tail: maxInFlight,
    sq_ticket: sqTail,
    sq_tail: sqTail,
    cq_head: cqHead,
    cq_released: cqHead,
  }
}
