// Handles completions: matches them to commands and stores exactly one outcome per command. Completions that match no
// command are counted only.
#pragma once

#include "submit.cuh"

namespace gpunvme {

template <class Port>
GPUNVME_DEVICE void tell(const Pair& pair, const Slot& place, Ending ending, uint32_t cid, uint32_t status) {
  const Active& active = pair.active[place.share % SHARES];
  Port::store_relaxed64(active.share.outcomes + place.index, outcome_of(ending, cid, status));
}

// Handles a completion of this queue. `status` is without the Phase Tag.
template <class Port>
GPUNVME_DEVICE void receive(Leader& leader, Pair& pair, uint32_t cid, uint32_t status) {
  const uint32_t slot = cid & ((1u << pair.slot_bits) - 1);
  if (slot >= pair.slot_count) {
    leader.stale++;
    return;
  }
  Slot& place = pair.slots[slot];
  const Ending ending = status == 0 ? Ending::SUCCESS : Ending::STATUS;
  if (place.owner == Owner::COMMAND && cid_of(pair, slot, place.generation) == cid) {
    tell<Port>(pair, place, ending, cid, status);
    place.generation++;
    free_slot(pair, slot);
    pair.in_flight--;
    pair.active[place.share % SHARES].in_flight--;
    settle<Port>(leader, pair, place.share);
  } else if (place.owner == Owner::ABANDONED && cid_of(pair, slot, place.generation - 1) == cid) {
    // Late, but its outcome is still useful if its share is not done.
    const Active& active = pair.active[place.share % SHARES];
    if (!active.done && pair.taken - place.share <= SHARES) tell<Port>(pair, place, ending, cid, status);
    else leader.stale++;
    free_slot(pair, slot);
  } else {
    leader.stale++;
  }
}

// Consumes all posted completions, at most one lap: beyond it, a broken controller has overwritten unconsumed entries.
// One aligned load has Phase Tag, identifiers and status, so they are consistent.
template <class Port>
GPUNVME_DEVICE uint32_t consume(Leader& leader) {
  uint32_t consumed = 0;
  while (consumed < leader.cq_entries) {
    const uint64_t dw2_3 = Port::load_completion64(leader.cq + 2 * leader.cq_head + 1);
    const uint32_t status = static_cast<uint32_t>(dw2_3 >> 48);
    if ((status & GPUNVME_CQE_STATUS_P_MASK) != leader.phase) break;
    leader.cq_head = advance(leader.cq_head, leader.cq_entries);
    if (leader.cq_head == 0) leader.phase ^= 1;
    consumed++;
    leader.unreleased++;
    const uint32_t sqid = static_cast<uint32_t>(dw2_3 >> 16) & 0xffff;
    uint32_t index = 0;
    while (index < leader.pair_count && leader.pairs[index].qid != sqid) index++;
    if (index == leader.pair_count) leader.stale++;
    else receive<Port>(leader, leader.pairs[index], static_cast<uint32_t>(dw2_3 >> 32) & 0xffff, status >> 1);
  }
  // By quarters of the queue: the controller has room to go on until the next one.
  if (leader.unreleased > leader.cq_entries / 4) release_completions<Port>(leader);
  return consumed;
}

// Abandons commands whose deadline is at or before `until_ns`, and updates the earliest remaining deadline.
template <class Port>
GPUNVME_DEVICE void give_up(Leader& leader, Ending ending, uint64_t until_ns) {
  leader.next_deadline_ns = NO_DEADLINE;
  for (uint32_t index = 0; index < leader.pair_count; index++) {
    Pair& pair = leader.pairs[index];
    for (uint32_t slot = 0; slot < pair.slot_count; slot++) {
      Slot& place = pair.slots[slot];
      if (place.owner != Owner::COMMAND) continue;
      if (place.deadline_ns > until_ns) {
        if (place.deadline_ns < leader.next_deadline_ns) leader.next_deadline_ns = place.deadline_ns;
        continue;
      }
      leader.halted = true;
      // Before the share is done: a host that sees its outcomes must not post to a halted leader.
      Port::store_relaxed64(&leader.report->halted, 1);
      tell<Port>(pair, place, ending, cid_of(pair, slot, place.generation), 0);
      abandon_slot(pair, slot);
      pair.in_flight--;
      pair.active[place.share % SHARES].in_flight--;
      settle<Port>(leader, pair, place.share);
    }
  }
}

}  // namespace gpunvme
