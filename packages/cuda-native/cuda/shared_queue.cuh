// Submission, completion and time limits of a queue pair. Any number of GPU threads use it concurrently through gpunvme.cuh,
// or the leader of an engine uses it exclusively through serve.cuh. gpunvme_device.h defines its words.
//
// - A thread reserves a number of free slots and SQ positions, then pops its slots. Once it has a position, it waits only for
//   another thread's store to the ring of free slots, never for a completion, so that every position is filled.
// - The warp that raises `ring_requests` from 0 to 1 rings the doorbell, also for later requests, until none is left.
// - The warp that holds `cq_lock` consumes completions, one per lane, and stores outcomes in slots. Waiting threads poll
//   their slot in GPU memory, and try the lock.
// - A slot is free again after its outcome was taken: by `wait`, by a warp that submits and needs more slots than are free, or
//   by the leader. After a time-out or a loss it is quarantined.
// - Outcomes are stored by compare-and-swap from "pending" with the same identifier, so that a command has exactly one.
#pragma once

#include "entry.cuh"
#include "warp.cuh"

namespace gpunvme {

// Lanes of a warp that call a function together, for the same queue. `mask` has the bit of each.
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
  // Returns the number of lanes before the first one whose bit is 0.
  GPUNVME_DEVICE uint32_t before_gap(uint32_t bits) const {
    const uint32_t gaps = mask & ~bits;
    return gaps == 0 ? count : count_bits(mask & ((1u << lowest_bit(gaps)) - 1));
  }
  // Returns the value of the first lane.
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

// Reserves up to `wanted` free slots; returns the number.
template <class Port>
GPUNVME_DEVICE uint32_t acquire_slots(gnv_queue& queue, uint32_t wanted) {
  if (static_cast<int32_t>(Port::load_relaxed32(&queue.free_count)) <= 0) return 0;
  const auto before = static_cast<int32_t>(Port::add32_gpu(&queue.free_count, 0u - wanted));
  const uint32_t got = before <= 0 ? 0 : static_cast<uint32_t>(before) < wanted ? static_cast<uint32_t>(before) : wanted;
  if (got < wanted) Port::add32_gpu(&queue.free_count, wanted - got);
  return got;
}

// Pops the slot at `position`. Waits until it is stored: the count can run ahead of the ring.
template <class Port>
GPUNVME_DEVICE uint32_t pop_slot(gnv_queue& queue, uint32_t position) {
  uint32_t* at = queue.free_slots + (position & (queue.entries - 1));
  for (uint32_t polls = 0;; polls++) {
    const uint32_t word = Port::exchange32_gpu(at, 0);
    if (word != 0) return word - 1;
    Port::relax(polls);
  }
}

// Stores a free slot at `position`. Waits until the slot of the previous lap has been popped.
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

// Rings the doorbell for all entries up to the first incomplete one. If another warp is ringing, leaves the request to it. Each
// lane checks one entry, so that one round trip to memory covers up to 32 entries.
template <class Team, class Port>
GPUNVME_DEVICE void request_ring(gnv_queue& queue, const Lanes<Team>& lanes) {
  for (uint32_t is_left = 1; is_left != 0;) {
    uint32_t before = 0, requests = 0, first = 0;
    if (lanes.leads()) before = Port::add32_gpu(&queue.ring_requests, 1);
    if (lanes.share(before) != 0) return;
    if (lanes.leads()) {
      // Acquire: the loop below sees the entries of all requests that are counted here.
      requests = Port::load_acquire32_gpu(&queue.ring_requests);
      first = queue.sq_tail;
    }
    Team::sync_warp(lanes.mask);
    first = lanes.share(first);
    uint32_t tail = first, complete = 0;
    do {
      const uint32_t at = tail + lanes.rank;
      const bool is_complete = Port::load_acquire32_gpu(&queue.ready[at & (queue.entries - 1)]) == at + 1;
      complete = lanes.before_gap(Team::ballot(lanes.mask, is_complete));
      tail += complete;
    } while (complete == lanes.count);
    // The fence of the first lane covers the entries that the other lanes have acquired.
    Team::sync_warp(lanes.mask);
    if (lanes.leads()) {
      if (tail != first) {
        Port::fence();
        Port::mmio_store32(queue.tail_doorbell, tail & (queue.entries - 1));
        queue.sq_tail = tail;
        queue.tail_doorbell_writes++;
      }
      // Later requests may be for entries that the loop did not see.
      is_left = Port::exchange32_gpu(&queue.ring_requests, 0) != requests;
    }
    is_left = lanes.share(is_left);
  }
}

// Posts an outcome if the command is pending; returns whether it did.
template <class Port>
GPUNVME_DEVICE bool post_outcome(gnv_slot& slot, uint32_t cid, Ending ending, uint32_t status) {
  return Port::cas64_gpu(&slot.outcome, pending(cid), outcome_of(ending, cid, status)) == pending(cid);
}

// A command that may have ended: whether this lane posted its outcome, its slot and the outcome.
struct Ended {
  bool is_posted;
  uint32_t slot;
  uint64_t outcome;
};

// A sink for ended commands that does nothing: each waiting thread takes the outcome of its own command. All lanes call `take`
// together; `remains` is called with the deadline of each command that stays in flight.
struct Waiters {
  template <class Team, class Port>
  GPUNVME_DEVICE void take(const Lanes<Team>&, const Ended&) {}
  GPUNVME_DEVICE void remains(uint64_t) {}
};

// Posts the outcome of a completion, given its last 8 bytes. Ignores duplicates, and completions of unknown commands or other
// queues.
template <class Port>
GPUNVME_DEVICE Ended receive(gnv_queue& queue, uint64_t dw2_3, bool is_first) {
  const uint32_t sqid = static_cast<uint32_t>(dw2_3 >> 16) & 0xffff;
  const uint32_t cid = static_cast<uint32_t>(dw2_3 >> 32) & 0xffff;
  const uint32_t status = static_cast<uint32_t>(dw2_3 >> 49);
  const uint32_t slot = cid & ((1u << queue.slot_bits) - 1);
  const Ending ending = status == 0 ? Ending::SUCCESS : Ending::STATUS;
  const bool is_ours = is_first && sqid == queue.qid && slot < queue.slot_count;
  const bool is_posted = is_ours && post_outcome<Port>(queue.slots[slot], cid, ending, status);
  return {is_posted, slot, outcome_of(ending, cid, status)};
}

// Ends commands with deadlines up to `until_ns`, and halts the queue if any ends. Their slots are not freed: the controller
// may still use their memory.
template <class Team, class Port, class Sink>
GPUNVME_DEVICE void expire(gnv_queue& queue, const Lanes<Team>& lanes, Ending ending, uint64_t until_ns, Sink& sink) {
  for (uint32_t first = 0; first < queue.slot_count; first += lanes.count) {
    Ended ended = {false, first + lanes.rank, 0};
    uint64_t outcome = GNV_TAKEN, deadline_ns = 0;
    if (ended.slot < queue.slot_count) {
      outcome = Port::load_acquire64_gpu(&queue.slots[ended.slot].outcome);
      deadline_ns = Port::load_relaxed64(&queue.slots[ended.slot].deadline_ns);
    }
    const bool is_pending = outcome >> GNV_ENDING_SHIFT == 0;
    const bool is_overdue = is_pending && deadline_ns <= until_ns;
    if (is_pending && !is_overdue) sink.remains(deadline_ns);
    if (Team::ballot(lanes.mask, is_overdue) == 0) continue;
    // Halt before posting: a thread that sees the time-out must find the queue halted.
    if (lanes.leads()) Port::cas32(&queue.state, GNV_RUNNING, GNV_QUEUE_HALTED);
    Team::sync_warp(lanes.mask);
    if (is_overdue) {
      ended.outcome = outcome_of(ending, cid_in(outcome), 0);
      ended.is_posted = post_outcome<Port>(queue.slots[ended.slot], cid_in(outcome), ending, 0);
    }
    sink.template take<Team, Port>(lanes, ended);
  }
}

// Releases consumed completion queue entries to the controller. Called by one lane.
template <class Port>
GPUNVME_DEVICE void release_completions(gnv_queue& queue) {
  if (queue.cq_released == queue.cq_head) return;
  Port::mmio_store32(queue.head_doorbell, queue.cq_head & (queue.entries - 1));
  queue.cq_released = queue.cq_head;
  queue.head_doorbell_writes++;
}

// Consumes completions, at most one lap. No other thread may do so at the same time. Returns the number of completions.
template <class Team, class Port, class Sink>
GPUNVME_DEVICE uint32_t consume(gnv_queue& queue, const Lanes<Team>& lanes, Sink& sink) {
  const uint32_t first = lanes.share(lanes.leads() ? queue.cq_head : 0);
  uint32_t head = first, consumed = 0;
  do {
    const uint32_t at = head + lanes.rank;
    const uint64_t dw2_3 = Port::load_completion64(queue.cq + 2 * (at & (queue.entries - 1)) + 1);
    // The Phase Tag is 1 in the first lap, 0 in the second, and so on.
    const bool is_new = ((dw2_3 >> 48 & GPUNVME_CQE_STATUS_P_MASK) != 0) == ((at & queue.entries) == 0);
    consumed = lanes.before_gap(Team::ballot(lanes.mask, is_new));
    if (consumed > 0) Port::fence_acquire();
    // Of several completions with the same SQ and command identifiers, the first counts.
    const uint32_t same = Team::match(lanes.mask, static_cast<uint32_t>(dw2_3 >> 16));
    const bool is_first = lowest_bit(same) == Team::lane();
    Ended ended = {false, 0, 0};
    if (lanes.rank < consumed) ended = receive<Port>(queue, dw2_3, is_first);
    sink.template take<Team, Port>(lanes, ended);
    const uint32_t posted = count_bits(Team::ballot(lanes.mask, ended.is_posted));
    if (lanes.leads()) queue.stale += consumed - posted;
    head += consumed;
  } while (consumed == lanes.count && head - first < queue.entries);
  // All lanes finish loading entries and posting outcomes before the entries are released.
  Team::sync_warp(lanes.mask);
  if (lanes.leads()) {
    queue.cq_head = head;
    // In batches, but the CQ always has room for completions of all slots: otherwise, commands could time out because this
    // thread has not released entries.
    const uint32_t spare = queue.entries - queue.slot_count;
    const uint32_t limit = queue.entries / 4 < spare ? queue.entries / 4 : spare;
    if (head - queue.cq_released >= limit) release_completions<Port>(queue);
  }
  return head - first;
}

// Consumes completions if no other thread does; then ends commands overdue at `expired_ns`, a time that was read before the
// call (0: none). A completion that had arrived by that time wins over the time-out.
template <class Team, class Port>
GPUNVME_DEVICE void poll(gnv_queue& queue, const Lanes<Team>& lanes, uint64_t expired_ns) {
  bool locked = false;
  if (lanes.leads()) locked = Port::load_relaxed32(&queue.cq_lock) == 0 && Port::exchange32_gpu(&queue.cq_lock, 1) == 0;
  if (lanes.share(static_cast<uint32_t>(locked)) == 0) return;
  Waiters sink;
  consume<Team, Port>(queue, lanes, sink);
  const bool is_lost = Port::load_relaxed32(&queue.state) == GNV_QUEUE_LOST;
  if (lanes.share(static_cast<uint32_t>(is_lost)) != 0) expire<Team, Port>(queue, lanes, Ending::LOST, ~0ULL, sink);
  else if (expired_ns != 0) expire<Team, Port>(queue, lanes, Ending::TIMEOUT, expired_ns, sink);
  Team::sync_warp(lanes.mask);
  if (lanes.leads()) Port::store_release32_gpu(&queue.cq_lock, 0);
}

// A command to submit, one per lane. A flush has no blocks.
struct Submission {
  uint32_t opcode;
  uint32_t nsid;
  uint64_t slba;
  uint32_t blocks;
  uint64_t bytes;
  gnv_runs memory;
  uint64_t offset;
};

// Writes an entry at `position`, and marks it as complete.
template <class Port>
GPUNVME_DEVICE uint32_t stage(gnv_queue& queue, const Submission& from, uint32_t slot, uint32_t position,
                              uint64_t deadline_ns) {
  const uint32_t cid = next_cid<Port>(queue, slot);
  Port::store_relaxed64(&queue.slots[slot].deadline_ns, deadline_ns);
  // After the deadline: `expire` loads the outcome, then the deadline.
  Port::store_release64_gpu(&queue.slots[slot].outcome, pending(cid));
  Entry entry = {from.opcode, cid, from.nsid, {0, 0}, from.slba, from.blocks};
  if (from.bytes > 0) entry.prps = lay_prps<Port>(queue, from.memory, from.offset, from.bytes, slot);
  const uint32_t place = position & (queue.entries - 1);
  store_entry<Port>(static_cast<Quad*>(queue.sq) + 4 * place, entry);
  Port::store_release32(&queue.ready[place], position + 1);
  return cid;
}

// A lane's command: its identifier, and its outcome, whose upper half is 0 while the command is pending.
struct Flight {
  uint32_t cid;
  uint64_t outcome;
  bool waits;
};

// Frees the slots of lanes for which `frees` is true.
template <class Team, class Port>
GPUNVME_DEVICE void free_slots(gnv_queue& queue, const Lanes<Team>& lanes, bool frees, uint32_t slot) {
  const uint32_t freeing = Team::ballot(lanes.mask, frees);
  if (freeing == 0) return;
  uint32_t position = 0;
  if (lanes.leads()) position = Port::add32_relaxed_gpu(&queue.free_tail, count_bits(freeing));
  position = lanes.share(position);
  if (frees) push_slot<Port>(queue, position + count_bits(freeing & ((1u << Team::lane()) - 1)), slot);
  Team::sync_warp(lanes.mask);
  if (lanes.leads()) Port::add32_gpu(&queue.free_count, count_bits(freeing));
}

// Whether this outcome means that the controller no longer uses the command's memory.
GPUNVME_DEVICE bool is_completed(uint64_t outcome) {
  return ending_of(outcome) == Ending::SUCCESS || ending_of(outcome) == Ending::STATUS;
}

// Takes the outcomes that have arrived, and frees their slots, except those that the controller may still use.
template <class Team, class Port>
GPUNVME_DEVICE void harvest(gnv_queue& queue, const Lanes<Team>& lanes, Flight& flight) {
  const uint32_t number = flight.cid & ((1u << queue.slot_bits) - 1);
  bool frees = false;
  if (flight.waits) {
    gnv_slot& slot = queue.slots[number];
    const uint64_t now = Port::load_acquire64_gpu(&slot.outcome);
    const bool has_ended = now >> GNV_ENDING_SHIFT != 0;
    if (cid_in(now) == flight.cid && (now & GNV_TAKEN) == 0) {
      if (has_ended && Port::cas64_gpu(&slot.outcome, now, now | GNV_TAKEN) == now) {
        flight = {flight.cid, now, false};
        frees = is_completed(now);
      }
    } else {
      flight = {flight.cid, refusal(GNV_INVALID, GNV_BAD_TICKET), false};
    }
  }
  free_slots<Team, Port>(queue, lanes, frees, number);
}

// Stages the commands of lanes for which `wants` is true, limited by the number of free slots. For each staged command, clears
// `wants` and sets `flight` to pending. Returns the number of staged commands; 0 if the queue is halted. `request_ring`
// announces them to the controller.
template <class Team, class Port>
GPUNVME_DEVICE uint32_t stage_round(gnv_queue& queue, const Lanes<Team>& lanes, const Submission& submission, bool& wants,
                                    Flight& flight, uint64_t deadline_ns) {
  const uint32_t waiting = Team::ballot(lanes.mask, wants);
  uint32_t got = 0, free_head = 0, ticket = 0;
  if (lanes.leads()) {
    const bool is_running = Port::load_relaxed32(&queue.state) == GNV_RUNNING;
    if (is_running && waiting != 0) got = acquire_slots<Port>(queue, count_bits(waiting));
    if (got > 0) {
      // Relaxed: the ring of free slots orders what it contains.
      free_head = Port::add32_relaxed_gpu(&queue.free_head, got);
      // Not relaxed: threads that reserved slots later may have used this place in the previous lap. Their entries, and the
      // controller's fetches of them, come before the entry of this thread.
      ticket = Port::add32_gpu(&queue.sq_ticket, got);
    }
  }
  got = lanes.share(got);
  if (got == 0) return 0;
  free_head = lanes.share(free_head);
  ticket = lanes.share(ticket);
  const uint32_t rank = count_bits(waiting & ((1u << Team::lane()) - 1));
  if (wants && rank < got) {
    const uint32_t slot = pop_slot<Port>(queue, free_head + rank);
    const uint32_t cid = stage<Port>(queue, submission, slot, ticket + rank, deadline_ns);
    flight = {cid, pending(cid), true};
    wants = false;
  }
  Team::sync_warp(lanes.mask);
  return got;
}

// Submits the commands of lanes for which `wants` is true, limited by the number of free slots. If there are none, consumes
// completions and frees the slots of ended commands, so that warps that hold slots do not deadlock. If `is_late`, a lane that
// gets no slot in this round gives up. For a lane that needs no further round, clears `wants`; `flight` has its pending, final
// or refused outcome.
template <class Team, class Port>
GPUNVME_DEVICE void submit_round(gnv_queue& queue, const Lanes<Team>& lanes, const Submission& submission, bool& wants,
                                 Flight& flight, uint64_t deadline_ns, bool is_late) {
  if (stage_round<Team, Port>(queue, lanes, submission, wants, flight, deadline_ns) > 0) {
    return request_ring<Team, Port>(queue, lanes);
  }
  const uint32_t state = lanes.share(lanes.leads() ? Port::load_relaxed32(&queue.state) : 0);
  if (wants && state != GNV_RUNNING) flight.outcome = refusal(GNV_HALTED);
  else if (wants && is_late) flight.outcome = refusal(GNV_BUSY);
  wants = wants && state == GNV_RUNNING && !is_late;
  poll<Team, Port>(queue, lanes, 0);
  harvest<Team, Port>(queue, lanes, flight);
}

// Waits until each lane for which `waits` is true has the outcome of command `cid`.
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
