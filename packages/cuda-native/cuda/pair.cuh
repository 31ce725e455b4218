// State of queues: positions of the rings, and commands in flight. It is in memory of the device that runs the leader,
// so that no step of a command reads state over PCIe.
#pragma once

#include "share.cuh"

namespace gpunvme {

// Owner of a command identifier. NOBODY: the slot is free.
enum class Owner : uint32_t { NOBODY = 0, COMMAND = 1, ABANDONED = 2 };

// A slot for a command in flight. Each slot has its own part of the PRP list memory.
struct Slot {
  uint64_t deadline_ns;
  // The command: the number of its share, and its index in the outcomes.
  uint32_t share;
  uint32_t index;
  Owner owner;
  // Number of uses of the slot, modulo 2^16: the upper bits of its identifier.
  uint32_t generation;
};

// A share that the leader has accepted.
struct Active {
  Share share;
  uint32_t submitted;
  uint32_t in_flight;
  // No more of its commands will be submitted.
  bool closed;
  bool done;
};

// A submission queue.
struct Pair {
  Quad* sq;
  uint32_t* tail_doorbell;
  // `prp_list_bytes` bytes per slot, whole pages.
  uint64_t* prp_lists;
  Runs prp_list_runs;
  uint32_t prp_list_bytes;
  uint32_t page_bytes;
  Slot* slots;
  // Ring of free slots. The slot that was free for the longest time is used next, so that identifiers recur as late as
  // possible.
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
  // Numbers of shares accepted and closed, modulo 2^32. Those between are open, and the first of them is being served.
  uint32_t taken;
  uint32_t served;
};

// Leaders that one launch starts. They end together once none of them has work, so that the host can launch them again. Leaders
// that must end because of a pause or the run limit do not wait for the others.
struct Grid {
  // Number of leaders.
  uint32_t leaders;
  // Bits 63:32: number of the last launch in which a leader was idle. Bits 31:0: number of leaders that are idle.
  uint64_t idle;
};

// A completion queue, its submission queues, and the state of the thread that serves them.
struct Leader {
  const uint64_t* cq;
  uint32_t* head_doorbell;
  Pair* pairs;
  Report* report;
  // Clock for time-outs in nanoseconds, for tests; null for the device's own.
  const uint64_t* clock;
  // Argument of `Port::wake_host`.
  void* context;
  Grid* grid;
  // Time without work after which the leader is idle.
  uint64_t linger_ns;
  // Run time after which it ends; its next launch continues. A display's watchdog kills longer kernels, and calls that wait
  // for all kernels get their turn. 0 for no limit.
  uint64_t run_limit_ns;

  uint32_t pair_count;
  uint32_t cq_entries;
  uint32_t cq_head;
  uint32_t phase;
  // Consumed entries that are not yet released to the controller.
  uint32_t unreleased;
  bool halted;
  bool stopping;
  // No commands are submitted until the next launch.
  bool draining;
  // Lower bound of the deadlines of commands in flight.
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

// Returns the next position in a ring.
GPUNVME_DEVICE uint32_t advance(uint32_t index, uint32_t entries) { return index + 1 == entries ? 0 : index + 1; }

}  // namespace gpunvme
