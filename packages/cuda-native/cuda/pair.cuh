// Queues as their leader has them: where the rings stand, and what is in flight. All of it lies in memory of the device
// that runs the leader, so that no step of a command reads state over PCIe.
#pragma once

#include "share.cuh"

namespace gpunvme {

// Whose a command identifier is.
enum class Owner : uint32_t { NOBODY = 0, COMMAND = 1, ABANDONED = 2 };

// A place for a command in flight, with its own part of the memory for PRP lists.
struct Slot {
  uint64_t deadline_ns;
  // The command: its share's number, and its place among the outcomes.
  uint32_t share;
  uint32_t index;
  Owner owner;
  // How often the place was used: the upper part of its identifier. Of 16 bits.
  uint32_t generation;
};

// A share that the leader has taken.
struct Active {
  Share share;
  uint32_t submitted;
  uint32_t in_flight;
  // Nothing more of it will be submitted.
  bool closed;
  bool done;
};

// A submission queue.
struct Pair {
  Quad* sq;
  uint32_t* tail_doorbell;
  // `prp_list_bytes` for each slot, in pages.
  uint64_t* prp_lists;
  Runs prp_list_runs;
  uint32_t prp_list_bytes;
  uint32_t page_bytes;
  Slot* slots;
  // The slots that are free, as a ring: the one that was free for longest goes next, so that an identifier comes again as
  // late as can be.
  uint32_t* free_slots;
  Share* shares;
  const uint64_t* control;
  Active* active;

  uint32_t qid;
  uint32_t sq_entries;
  uint32_t slot_count;
  uint32_t slot_bits;

  uint32_t sq_tail;
  uint32_t next_free;
  uint32_t free_count;
  uint32_t in_flight;
  uint64_t seen_control;
  // Shares taken from the ring, and closed, modulo 2^32: those between are open, and the first of them is being served.
  uint32_t taken;
  uint32_t served;
};

// A completion queue, the submission queues that complete to it, and the one thread that does everything for them.
struct Leader {
  const uint64_t* cq;
  uint32_t* head_doorbell;
  Pair* pairs;
  Report* report;
  // Nanoseconds to measure time-outs by, where they shall not be those of the clock: a test's.
  const uint64_t* clock;
  // For `Port::wake_host`.
  void* context;
  // How long it waits for another share before it ends.
  uint64_t linger_ns;
  // How long it runs before it submits nothing more and ends, for its next launch to go on: a display's watchdog ends
  // longer kernels by force, and what waits for this one gets its turn. 0 for no limit.
  uint64_t run_limit_ns;

  uint32_t pair_count;
  uint32_t cq_entries;
  uint32_t cq_head;
  uint32_t phase;
  // Entries consumed that the controller was not told of yet.
  uint32_t unreleased;
  // Commands that one doorbell announces, where there are as many to be submitted.
  uint32_t batch;
  bool halted;
  bool stopping;
  // Nothing is submitted until the next launch.
  bool draining;
  // No command in flight has an earlier deadline.
  uint64_t next_deadline_ns;
  uint64_t progress;
  uint64_t heartbeat;
  uint64_t commands;
  uint64_t doorbell_writes;
  uint64_t stale;
};

constexpr uint64_t NO_DEADLINE = ~0ULL;

template <class Port>
GPUNVME_DEVICE uint64_t time_of(const Leader& leader) {
  return leader.clock == nullptr ? Port::now_ns() : Port::load_relaxed64(leader.clock);
}

// Positions in a ring.
GPUNVME_DEVICE uint32_t advance(uint32_t index, uint32_t entries) { return index + 1 == entries ? 0 : index + 1; }

}  // namespace gpunvme
