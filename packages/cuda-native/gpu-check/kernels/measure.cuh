// Measures the cycles of single steps of a leader, on queues without a controller.
#pragma once

#include "leader.cuh"
#include "owned_port.cuh"
#include "shared_queue.cuh"

namespace gpunvme {

// Ten words, which the host writes and reads.
struct MeasureRun {
  // A submission and a completion queue of `entries`, two adjacent doorbells, and a page of data for each command, as for a
  // controller. Addresses are those of the device that runs this. The completion queue is all zeros.
  uint64_t sq;
  uint64_t cq;
  uint64_t doorbells;
  uint64_t data;
  // 64 KiB in the device's own memory, for the state of a leader.
  uint64_t scratch;
  // A power of two, more than `batch`, and at most MEASURE_ENTRIES.
  uint64_t entries;
  uint64_t rounds;
  // Commands that one doorbell announces, 1 to 32.
  uint64_t batch;
  // Results, summed over all rounds: cycles of `batch` commands and their doorbell, and of one empty poll.
  uint64_t submission_cycles;
  uint64_t poll_cycles;
};
static_assert(sizeof(MeasureRun) == 80, "written by the host");

constexpr uint32_t MEASURE_ENTRIES = 1024;

// State of a leader, except the queues.
struct MeasureState {
  gnv_queue queue;
  gnv_slot slots[32];
  uint32_t ready[MEASURE_ENTRIES];
  uint32_t free_slots[MEASURE_ENTRIES];
  Command commands[32];
  uint64_t iova;
};
static_assert(sizeof(MeasureState) <= 65536, "allocated by the host");

template <class T>
GPUNVME_DEVICE T* at_address(uint64_t address) {
  return reinterpret_cast<T*>(static_cast<uintptr_t>(address));
}

GPUNVME_DEVICE void lay_out(MeasureState& state, const MeasureRun& run) {
  const auto batch = static_cast<uint32_t>(run.batch);
  state.iova = run.data;
  for (uint32_t i = 0; i < batch; i++) state.commands[i] = Command{8 * i, 4096 * i, 8, i};
  state.queue = gnv_queue{};
  state.queue.sq = at_address<void>(run.sq);
  state.queue.cq = at_address<const uint64_t>(run.cq);
  state.queue.tail_doorbell = at_address<uint32_t>(run.doorbells);
  state.queue.head_doorbell = at_address<uint32_t>(run.doorbells + 4);
  state.queue.slots = state.slots;
  state.queue.ready = state.ready;
  state.queue.free_slots = state.free_slots;
  state.queue.entries = static_cast<uint32_t>(run.entries);
  state.queue.slot_count = batch;
  state.queue.page_bytes = 4096;
  gnv_init_queue(&state.queue);
}

// Run by the lanes of one warp. `Cycles::now()` returns the cycle counter of the device.
template <class Team, class Port, class Cycles>
GPUNVME_DEVICE void measure(MeasureRun& run) {
  using Owned = OwnedPort<Port>;
  const auto lanes = Lanes<Team>::of(Team::kAllLanes);
  MeasureState& state = *at_address<MeasureState>(run.scratch);
  gnv_queue& queue = state.queue;
  if (lanes.leads()) lay_out(state, run);
  Team::sync_warp(lanes.mask);
  const bool has_command = lanes.rank < run.batch;
  const uint64_t rounds = run.rounds;
  uint64_t submissions = 0;
  GPUNVME_ROLLED
  for (uint64_t round = 0; round < rounds; round++) {
    const uint64_t before = Cycles::now();
    Command command = {0, 0, 0, 0};
    if (has_command) command = state.commands[lanes.rank];
    const Submission submission = {GPUNVME_NVM_OPCODE_READ,  1,
                                   command.slba,             command.blocks,
                                   command.blocks * 512ULL,  {&state.iova, 63},
                                   command.offset};
    Flight flight = {0, 0, false};
    bool wants = has_command;
    stage_round<Team, Owned>(queue, lanes, submission, wants, flight, NO_DEADLINE);
    request_ring<Team, Owned>(queue, lanes);
    submissions += Cycles::now() - before;
    // As if all commands had completed.
    free_slots<Team, Owned>(queue, lanes, flight.waits, flight.cid & ((1u << queue.slot_bits) - 1));
  }
  Waiters sink;
  const uint64_t before = Cycles::now();
  GPUNVME_ROLLED
  for (uint64_t round = 0; round < rounds; round++) consume<Team, Owned>(queue, lanes, sink);
  const uint64_t polls = Cycles::now() - before;
  if (!lanes.leads()) return;
  run.poll_cycles = polls;
  run.submission_cycles = submissions;
}

}  // namespace gpunvme
