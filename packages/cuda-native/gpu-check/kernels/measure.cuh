// Measures the cycles of single steps of the queue code, on queues without a controller.
#pragma once

#include "complete.cuh"

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
  uint64_t entries;
  uint64_t rounds;
  // Commands that one doorbell announces, 1 to 32.
  uint64_t batch;
  // Results, summed over all rounds: cycles of `batch` commands and their doorbell, and of one empty poll.
  uint64_t submission_cycles;
  uint64_t poll_cycles;
};
static_assert(sizeof(MeasureRun) == 80, "written by the host");

// State of a leader of one queue pair, except the queues.
struct MeasureState {
  Leader leader;
  Pair pair;
  Slot slots[32];
  uint32_t free_slots[32];
  Active active;
  Command commands[32];
  uint64_t iova;
};
static_assert(sizeof(MeasureState) <= 65536, "allocated by the host");

template <class T>
GPUNVME_DEVICE T* at_address(uint64_t address) {
  return reinterpret_cast<T*>(static_cast<uintptr_t>(address));
}

GPUNVME_DEVICE void lay_out(MeasureState& state, const MeasureRun& run, uint32_t batch) {
  state.iova = run.data;
  for (uint32_t i = 0; i < batch; i++) {
    state.slots[i] = Slot{};
    state.free_slots[i] = i;
    state.commands[i] = Command{8 * i, 4096 * i, 8, i};
  }
  state.active = Active{};
  state.active.share.commands = state.commands;
  state.active.share.memory = Runs{&state.iova, 63};
  state.active.share.count = batch;
  state.active.share.nsid = 1;
  state.active.share.block_bytes = 512;
  state.active.share.opcode = GPUNVME_NVM_OPCODE_READ;
  state.pair = Pair{};
  state.pair.sq = at_address<Quad>(run.sq);
  state.pair.tail_doorbell = at_address<uint32_t>(run.doorbells);
  state.pair.page_bytes = 4096;
  state.pair.slots = state.slots;
  state.pair.free_slots = state.free_slots;
  state.pair.active = &state.active;
  state.pair.sq_entries = static_cast<uint32_t>(run.entries);
  state.pair.slot_count = batch;
  state.pair.slot_bits = 5;
  state.pair.free_count = batch;
  state.leader = Leader{};
  state.leader.cq = at_address<const uint64_t>(run.cq);
  state.leader.head_doorbell = at_address<uint32_t>(run.doorbells + 4);
  state.leader.pairs = &state.pair;
  state.leader.pair_count = 1;
  state.leader.cq_entries = static_cast<uint32_t>(run.entries);
  state.leader.phase = 1;
}

// `Cycles::now()` returns the cycle counter of the device that runs this.
template <class Port, class Cycles>
GPUNVME_DEVICE void measure(MeasureRun& run) {
  MeasureState& state = *at_address<MeasureState>(run.scratch);
  const uint32_t batch = static_cast<uint32_t>(run.batch);
  const uint64_t rounds = run.rounds;
  lay_out(state, run, batch);
  uint64_t submissions = 0;
  GPUNVME_ROLLED
  for (uint64_t round = 0; round < rounds; round++) {
    const uint64_t before = Cycles::now();
    Alone::stage<Port>(state.leader, state.pair, state.active, batch, 0);
    Port::fence();
    Port::mmio_store32(state.pair.tail_doorbell, state.pair.sq_tail);
    submissions += Cycles::now() - before;
    // Frees the slots as if all commands had completed.
    state.active.submitted = 0;
    for (uint32_t slot = 0; slot < batch; slot++) free_slot(state.pair, slot);
  }
  const uint64_t before = Cycles::now();
  GPUNVME_ROLLED
  for (uint64_t round = 0; round < rounds; round++) consume<Port>(state.leader);
  run.poll_cycles = Cycles::now() - before;
  run.submission_cycles = submissions;
}

}  // namespace gpunvme
