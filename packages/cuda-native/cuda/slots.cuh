// Command identifiers with a memory: a slot in the low bits, how often it was used above. A completion is credited to a
// command only where both agree, so that one that comes late, twice or from nowhere finds no owner (defect D1 of systems
// before: completions that are counted and not matched make wrong data of one that is stale).
#pragma once

#include "pair.cuh"

namespace gpunvme {

GPUNVME_DEVICE uint32_t cid_of(const Pair& pair, uint32_t slot, uint32_t generation) {
  return (generation << pair.slot_bits | slot) & 0xffff;
}

// A free slot, which is a command's from now on. There must be one.
GPUNVME_DEVICE uint32_t take_slot(Pair& pair) {
  const uint32_t slot = pair.free_slots[pair.next_free];
  pair.next_free = advance(pair.next_free, pair.slot_count);
  pair.free_count--;
  pair.slots[slot].owner = Owner::COMMAND;
  return slot;
}

// The controller is done with the slot's command and its PRP list.
GPUNVME_DEVICE void free_slot(Pair& pair, uint32_t slot) {
  uint32_t at = pair.next_free + pair.free_count++;
  if (at >= pair.slot_count) at -= pair.slot_count;
  pair.slots[slot].owner = Owner::NOBODY;
  pair.free_slots[at] = slot;
}

// The command was given up: its identifier is honoured no more, and the slot, with memory that the controller may still
// use, is nobody's before a completion for it comes after all.
GPUNVME_DEVICE void abandon_slot(Pair& pair, uint32_t slot) {
  pair.slots[slot].owner = Owner::ABANDONED;
  pair.slots[slot].generation++;
}

}  // namespace gpunvme
