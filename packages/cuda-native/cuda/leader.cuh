// State of a leader: the warp or CPU thread that serves a queue pair of an engine, exclusively. The state is in memory of the
// device that runs the leader, so that no step of a command reads state over PCIe.
#pragma once

#include "share.cuh"

namespace gpunvme {

// A share that the leader has accepted.
struct Active {
  Share share;
  uint32_t submitted;
  uint32_t in_flight;
  // No more of its commands will be submitted.
  bool closed;
  bool done;
};

// The command of a slot: the number of its share, and its index in the outcomes.
struct Task {
  uint32_t share;
  uint32_t index;
};

// Leaders that one launch starts. They end together once none of them has work, so that the host can launch them again. Leaders
// that must end because of a pause or the run limit do not wait for the others.
struct Grid {
  // Number of leaders.
  uint32_t leaders;
  // Bits 63:32: number of the last launch in which a leader was idle. Bits 31:0: number of leaders that are idle.
  uint64_t idle;
};

struct Leader {
  gnv_queue queue;

  Share* shares;
  const uint64_t* control;
  Report* report;
  // Ring of SHARES entries.
  Active* active;
  // One per slot.
  Task* tasks;
  // Clock for time-outs in nanoseconds, for tests; null for the device's own.
  const uint64_t* clock;
  // Argument of `Port::wake_host`.
  void* context;
  Grid* grid;
  // Time without work after which the leader is idle.
  uint64_t linger_ns;
  // Run time after which a launch ends; the next one continues. A display's watchdog kills longer kernels, and calls that wait
  // for all kernels return only between launches. 0 for no limit.
  uint64_t run_limit_ns;

  // State between launches.

  uint64_t seen_control;
  // Numbers of shares accepted and closed, modulo 2^32. Shares between the two are open; the first of them is being served.
  uint32_t taken;
  uint32_t served;
  uint32_t in_flight;
  // Lower bound of the deadlines of commands in flight.
  uint64_t next_deadline_ns;
  uint64_t progress;
  uint64_t heartbeat;
  uint64_t commands;
  // The lower halves are the queue's counters.
  uint64_t doorbell_writes;
  uint64_t stale;
};

constexpr uint64_t NO_DEADLINE = ~0ULL;

}  // namespace gpunvme
