// A queue pair that any number of GPU threads use at once: submission, completion, time limits. See gpunvme.cuh for its
// users, and gpunvme_device.h for its words.
//
// - A thread takes a free slot, then a position of the SQ. A thread with a position never waits for another one, so that
//   positions before others' cannot stay empty.
// - Whoever makes `ring_requests` 1 rings, and rings for all others until no request is left.
// - Whoever gets `cq_lock` consumes completions, one per lane, and stores outcomes in slots. Waiting threads poll their
//   slot in GPU memory, and try the lock.
// - A slot is free again after its outcome was taken: by `wait`, or by a warp that submits and needs more slots than are free.
// - Outcomes are stored by compare-and-swap from "pending" with the same identifier, so that a command has exactly one.
#pragma once

#include "entry.cuh"
#include "warp.cuh"

namespace gpunvme {

// Lanes of a warp that call a function together, with the same queue. Each is in `mask`.
template <class Team>
struct Lanes {
  uint32_t mask;
  uint32_t rank;
  uint32_t count;
  uint32_t first;

  static GPUNVME_DEVICE Lanes of(uint32_t mask) {
    return {mask, count_bits(mask & ((1u << Team::lane()) - 1)), count_bits(mask), lowest_bit(mask)};
  }
  GPUNVME_DEVICE bool leads() const { return rank == 0; }
  // The value of the first lane.
  template <class Word>
  GPUNVME_DEVICE Word share(Word value) const {
    return Team::shuffle(mask, value, first);
  }
};

GPUNVME_DEVICE Ending ending_of(uint64_t outcome) { return static_cast<Ending>(outcome >> GNV_ENDING_SHIFT & 0xff); }
GPUNVME_DEVICE uint64_t refusal(uint32_t ending, uint32_t reason = 0) {
  return static_cast<uint64_t>(ending) << GNV_ENDING_SHIFT | reason;
}
GPUNVME_DEVICE uint64_t pending(uint32_t cid) { return static_cast<uint64_t>(cid) << GNV_CID_SHIFT; }
GPUNVME_DEVICE uint32_t cid_in(uint64_t outcome) { return static_cast<uint32_t>(outcome >> GNV_CID_SHIFT) & 0xffff; }

// Takes up to `wanted` of the counted free slots; returns how many.
template <class Port>
GPUNVME_DEVICE uint32_t acquire_slots(gnv_queue& queue, uint32_t wanted) {
  if (static_cast<int32_t>(Port::load_relaxed32(&queue.free_count)) <= 0) return 0;
  const auto before = static_cast<int32_t>(Port::add32_gpu(&queue.free_count, 0u - wanted));
  const uint32_t got = before <= 0 ? 0 : static_cast<uint32_t>(before) < wanted ? static_cast<uint32_t>(before) : wanted;
  if (got < wanted) Port::add32_gpu(&queue.free_count, wanted - got);
  return got;
}

// Removes a slot from `position` of the ring of free slots. It was counted, but a slower thread than the one that counted it
// may still be storing it.
template <class Port>
GPUNVME_DEVICE uint32_t pop_slot(gnv_queue& queue, uint32_t position) {
  uint32_t* at = queue.free_slots + (position & (queue.entries - 1));
  for (uint32_t polls = 0;; polls++) {
    const uint32_t word = Port::exchange32_gpu(at, 0);
    if (word != 0) return word - 1;
    Port::relax(polls);
  }
}

// Stores a free slot at `position`. The slot that was there one lap before may still wait for its new owner.
template <class Port>
GPUNVME_DEVICE void push_slot(gnv_queue& queue, uint32_t position, uint32_t slot) {
  uint32_t* at = queue.free_slots + (position & (queue.entries - 1));
  for (uint32_t polls = 0; Port::cas32_gpu(at, 0, slot + 1) != 0; polls++) Port::relax(polls);
}

// Returns the next identifier of a slot. FFFFh, which is reserved (Base 2.1 §4.1.1), does not occur, since a slot number
// never has all bits set.
template <class Port>
GPUNVME_DEVICE uint32_t next_cid(const gnv_queue& queue, uint32_t slot) {
  const uint32_t generation = (cid_in(Port::load_relaxed64(&queue.slots[slot].outcome)) >> queue.slot_bits) + 1;
  return (generation << queue.slot_bits | slot) & 0xffff;
}

// Rings the doorbell for all complete entries up to the first incomplete one, if no other thread does; that one then does it
// for this one too.
template <class Port>
GPUNVME_DEVICE void request_ring(gnv_queue& queue) {
  while (Port::add32_gpu(&queue.ring_requests, 1) == 0) {
    const uint32_t requests = Port::load_relaxed32(&queue.ring_requests);
    uint32_t tail = queue.sq_tail;
    while (Port::load_acquire32_gpu(&queue.ready[tail & (queue.entries - 1)]) == tail + 1) tail++;
    if (tail != queue.sq_tail) {
      Port::fence();
      Port::mmio_store32(queue.tail_doorbell, tail & (queue.entries - 1));
      queue.sq_tail = tail;
      queue.tail_doorbell_writes++;
    }
    // Requests since then may be for entries that the loop did not see.
    if (Port::exchange32_gpu(&queue.ring_requests, 0) == requests) return;
  }
}

// Gives a command an ending, unless it has one.
template <class Port>
GPUNVME_DEVICE bool post_outcome(gnv_slot& slot, uint32_t cid, Ending ending, uint32_t status) {
  return Port::cas64_gpu(&slot.outcome, pending(cid), outcome_of(ending, cid, status)) == pending(cid);
}

// Matches the last 8 bytes of a completion to its command, unless it is a repetition.
template <class Port>
GPUNVME_DEVICE void receive(gnv_queue& queue, uint64_t dw2_3, bool is_first) {
  const uint32_t sqid = static_cast<uint32_t>(dw2_3 >> 16) & 0xffff;
  const uint32_t cid = static_cast<uint32_t>(dw2_3 >> 32) & 0xffff;
  const uint32_t status = static_cast<uint32_t>(dw2_3 >> 49);
  const uint32_t slot = cid & ((1u << queue.slot_bits) - 1);
  const Ending ending = status == 0 ? Ending::SUCCESS : Ending::STATUS;
  if (is_first && sqid == queue.qid && slot < queue.slot_count && post_outcome<Port>(queue.slots[slot], cid, ending, status)) return;
  Port::add32_gpu(&queue.stale, 1);
}

// Ends commands whose deadline is at or before `until_ns`, and halts the queue for any. Their slots are not freed: the
// controller may still use their memory.
template <class Team, class Port>
GPUNVME_DEVICE void expire(gnv_queue& queue, const Lanes<Team>& lanes, Ending ending, uint64_t until_ns) {
  for (uint32_t index = lanes.rank; index < queue.slot_count; index += lanes.count) {
    gnv_slot& slot = queue.slots[index];
    const uint64_t outcome = Port::load_acquire64_gpu(&slot.outcome);
    if (outcome >> GNV_ENDING_SHIFT != 0 || Port::load_relaxed64(&slot.deadline_ns) > until_ns) continue;
    // Before the outcome: whoever sees it must not submit to this queue.
    if (Port::load_relaxed32(&queue.state) == GNV_RUNNING) Port::store_release32_gpu(&queue.state, GNV_QUEUE_HALTED);
    post_outcome<Port>(slot, cid_in(outcome), ending, 0);
  }
}

// Consumes completions, at most one lap, if no other thread does. `expired_ns`: 0, or the time of a clock that was read before
// the call; commands with deadlines before it that have no completion end. Only then, so that no command times out because
// its waiter was delayed between polling and reading the clock.
template <class Team, class Port>
GPUNVME_DEVICE void poll(gnv_queue& queue, const Lanes<Team>& lanes, uint64_t expired_ns) {
  bool locked = false;
  if (lanes.leads()) locked = Port::load_relaxed32(&queue.cq_lock) == 0 && Port::exchange32_gpu(&queue.cq_lock, 1) == 0;
  if (lanes.share(static_cast<uint32_t>(locked)) == 0) return;
  const uint32_t first = lanes.share(lanes.leads() ? queue.cq_head : 0);
  uint32_t head = first, consumed = 0;
  do {
    const uint32_t at = head + lanes.rank;
    const uint64_t dw2_3 = Port::load_completion64(queue.cq + 2 * (at & (queue.entries - 1)) + 1);
    // The Phase Tag is 1 in the first lap, 0 in the second, and so on.
    const bool is_new = ((dw2_3 >> 48 & GPUNVME_CQE_STATUS_P_MASK) != 0) == ((at & queue.entries) == 0);
    const uint32_t missing = lanes.mask & ~Team::ballot(lanes.mask, is_new);
    consumed = missing == 0 ? lanes.count : count_bits(lanes.mask & ((1u << lowest_bit(missing)) - 1));
    if (consumed > 0) Port::fence_acquire();
    // Of several completions with one identifier, the first counts.
    const uint32_t cid = lanes.rank < consumed ? static_cast<uint32_t>(dw2_3 >> 32) & 0xffff : 0x10000 + lanes.rank;
    const bool is_first = lowest_bit(Team::match(lanes.mask, cid)) == Team::lane();
    if (lanes.rank < consumed) receive<Port>(queue, dw2_3, is_first);
    head += consumed;
  } while (consumed == lanes.count && head - first < queue.entries);
  const bool is_lost = Port::load_relaxed32(&queue.state) == GNV_QUEUE_LOST;
  if (lanes.share(static_cast<uint32_t>(is_lost)) != 0) expire<Team, Port>(queue, lanes, Ending::LOST, ~0ULL);
  else if (expired_ns != 0) expire<Team, Port>(queue, lanes, Ending::TIMEOUT, expired_ns);
  // Outcomes, and loads of entries, before the entries are released.
  Team::sync_warp(lanes.mask);
  if (!lanes.leads()) return;
  queue.cq_head = head;
  const uint32_t unreleased = head - queue.cq_released;
  if (unreleased >= queue.entries / 4 || (unreleased > 0 && head == first)) {
    Port::mmio_store32(queue.head_doorbell, head & (queue.entries - 1));
    queue.cq_released = head;
    queue.head_doorbell_writes++;
  }
  Port::store_release32_gpu(&queue.cq_lock, 0);
}

// What a lane submits. A flush has no blocks.
struct Submission {
  uint32_t opcode;
  uint32_t nsid;
  uint64_t slba;
  uint32_t blocks;
  uint64_t bytes;
  const gnv_buffer* buffer;
  uint64_t offset;
};

// Writes an entry at `position`, and marks it as complete.
template <class Port>
GPUNVME_DEVICE uint32_t stage(gnv_queue& queue, const Submission& from, uint32_t slot, uint32_t position,
                              uint64_t deadline_ns) {
  const uint32_t cid = next_cid<Port>(queue, slot);
  Port::store_relaxed64(&queue.slots[slot].deadline_ns, deadline_ns);
  // After the deadline, which `expire` reads after it.
  Port::store_release64_gpu(&queue.slots[slot].outcome, pending(cid));
  Entry entry = {from.opcode, cid, from.nsid, {0, 0}, from.slba, from.blocks};
  if (from.bytes > 0) entry.prps = lay_prps<Port>(queue, from.buffer->runs, from.offset, from.bytes, slot);
  const uint32_t place = position & (queue.entries - 1);
  store_entry<Port>(static_cast<Quad*>(queue.sq) + 4 * place, entry);
  Port::store_release32(&queue.ready[place], position + 1);
  return cid;
}

// A lane's command: its identifier, and its outcome, which is 0 in the upper half while it is pending.
struct Flight {
  uint32_t cid;
  uint64_t outcome;
  bool waits;
};

// Takes the outcomes that have arrived, and frees their slots, except those that the controller may still use.
template <class Team, class Port>
GPUNVME_DEVICE void harvest(gnv_queue& queue, const Lanes<Team>& lanes, Flight& flight) {
  const uint32_t number = flight.cid & ((1u << queue.slot_bits) - 1);
  bool frees = false;
  if (flight.waits) {
    gnv_slot& slot = queue.slots[number];
    const uint64_t now = Port::load_acquire64_gpu(&slot.outcome);
    const bool is_foreign = cid_in(now) != flight.cid || (now & GNV_TAKEN) != 0;
    if (is_foreign) {
      flight = {flight.cid, refusal(GNV_INVALID, GNV_BAD_TICKET), false};
    } else if (now >> GNV_ENDING_SHIFT != 0) {
      flight = {flight.cid, now, false};
      frees = ending_of(now) == Ending::SUCCESS || ending_of(now) == Ending::STATUS;
      Port::store_relaxed64(&slot.outcome, now | GNV_TAKEN);
    }
  }
  const uint32_t freeing = Team::ballot(lanes.mask, frees);
  if (freeing == 0) return;
  uint32_t position = 0;
  if (lanes.leads()) position = Port::add32_gpu(&queue.free_tail, count_bits(freeing));
  position = lanes.share(position);
  if (frees) push_slot<Port>(queue, position + count_bits(freeing & ((1u << Team::lane()) - 1)), number);
  Team::sync_warp(lanes.mask);
  if (lanes.leads()) Port::add32_gpu(&queue.free_count, count_bits(freeing));
}

// Submits one command per lane with `wants`. Returns its pending outcome, its final one, or the reason why it was not
// submitted. Waits for free slots, at most `timeout_ns`; meanwhile, lanes whose commands have ended free theirs, so that
// warps that have some slots and need more do not wait for each other.
template <class Team, class Port>
GPUNVME_DEVICE uint64_t submit(gnv_queue& queue, const Lanes<Team>& lanes, const Submission& submission, bool wants,
                               uint64_t timeout_ns) {
  Flight flight = {0, 0, false};
  uint64_t give_up_ns = 0;
  for (uint32_t polls = 0;; polls++) {
    const uint32_t waiting = Team::ballot(lanes.mask, wants);
    if (waiting == 0) return flight.outcome;
    const uint64_t now_ns = lanes.share(Port::now_ns());
    if (give_up_ns == 0) give_up_ns = now_ns + timeout_ns;
    uint32_t state = 0, got = 0, free_head = 0, ticket = 0;
    if (lanes.leads()) {
      state = Port::load_relaxed32(&queue.state);
      if (state == GNV_RUNNING) got = acquire_slots<Port>(queue, count_bits(waiting));
      if (got > 0) {
        free_head = Port::add32_gpu(&queue.free_head, got);
        ticket = Port::add32_gpu(&queue.sq_ticket, got);
      }
    }
    state = lanes.share(state);
    got = lanes.share(got);
    if (state != GNV_RUNNING || (got == 0 && now_ns >= give_up_ns))
      return wants ? refusal(state == GNV_RUNNING ? GNV_BUSY : GNV_HALTED) : flight.outcome;
    if (got == 0) {
      poll<Team, Port>(queue, lanes, 0);
      harvest<Team, Port>(queue, lanes, flight);
      Port::relax(polls);
      continue;
    }
    free_head = lanes.share(free_head);
    ticket = lanes.share(ticket);
    const uint32_t rank = count_bits(waiting & ((1u << Team::lane()) - 1));
    if (wants && rank < got) {
      const uint32_t slot = pop_slot<Port>(queue, free_head + rank);
      const uint32_t cid = stage<Port>(queue, submission, slot, ticket + rank, now_ns + timeout_ns);
      flight = {cid, pending(cid), true};
      wants = false;
    }
    Team::sync_warp(lanes.mask);
    if (lanes.leads()) request_ring<Port>(queue);
  }
}

// Waits until each lane with `waits` has the outcome of the command with its identifier.
template <class Team, class Port>
GPUNVME_DEVICE uint64_t wait(gnv_queue& queue, const Lanes<Team>& lanes, uint32_t cid, bool waits) {
  const uint32_t number = cid & ((1u << queue.slot_bits) - 1);
  Flight flight = {cid, refusal(GNV_INVALID, GNV_BAD_TICKET), waits && number < queue.slot_count};
  const uint64_t deadline_ns = flight.waits ? Port::load_relaxed64(&queue.slots[number].deadline_ns) : 0;
  for (uint32_t polls = 0;; polls++) {
    harvest<Team, Port>(queue, lanes, flight);
    if (Team::ballot(lanes.mask, flight.waits) == 0) return flight.outcome;
    const uint64_t now_ns = lanes.share(Port::now_ns());
    const bool is_late = Team::ballot(lanes.mask, flight.waits && deadline_ns <= now_ns) != 0;
    poll<Team, Port>(queue, lanes, is_late ? now_ns : 0);
    Port::relax(polls);
  }
}

}  // namespace gpunvme
