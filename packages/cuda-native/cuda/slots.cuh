// Command identifiers with a slot in the low bits and its generation above. A completion is credited to a command only
// if both match, so that late, duplicate and foreign completions have no owner (defect D1 of predecessors: counting
// completions without matching them turns a stale one into wrong data).
#pragma once

#include "pair.cuh"

namespace gpunvme {

GPUNVME_DEVICE uint32_t cid_of(const Pair& pair, uint32_t slot, uint32_t generation) {
  return (generation << pair.slot_bits | slot) & 0xffff;
}

// Allocates a free slot. There must be one.
GPUNVME_DEVICE uint32_t take_slot(Pair& pair) {
  const uint32_t slot = pair.free_slots[pair.next_free];
  pair.next_free = advance(pair.next_free, pair.slot_count);
  pair.free_count--;
  pair.slots[slot].owner = Owner::COMMAND;
  return slot;
}

// Frees a slot. The controller no longer uses its PRP list.
GPUNVME_DEVICE void free_slot(Pair& pair, uint32_t slot) {
  uint32_t at = pair.next_free + pair.free_count++;
  if (at >= pair.slot_count) at -= pair.slot_count;
  pair.slots[slot].owner = Owner::NOBODY;
  pair.free_slots[at] = slot;
}

// Abandons the command of a slot: its identifier becomes invalid. The slot is not freed, since the controller may still
// use its PRP list, until a completion arrives after all.
GPUNVME_DEVICE void abandon_slot(Pair& pair, uint32_t slot) {
  pair.slots[slot].owner = Owner::ABANDONED;
  pair.slots[slot].generation++;
}

}  // namespace gpunvme
