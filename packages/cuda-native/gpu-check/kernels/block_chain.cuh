// A program of the GPU that reads blocks by itself: each block says which is the next, so that no host could have asked
// for it. It writes what it made of the last one, too.
#pragma once

#include "block_io.cuh"

namespace gpunvme {

constexpr uint32_t CHAIN_SLOTS = 32;

// Words, which the host writes and reads. Addresses are the device's, but for those that are the controller's (`iova`).
struct BlockChain {
  // A queue pair that the host has made, and does not use meanwhile.
  uint64_t sq;
  uint64_t sq_entries;
  uint64_t sq_tail;
  uint64_t tail_doorbell;
  uint64_t cq;
  uint64_t cq_entries;
  uint64_t cq_head;
  uint64_t phase;
  uint64_t head_doorbell;
  uint64_t qid;
  // At most CHAIN_SLOTS.
  uint64_t in_flight;
  uint64_t prp_lists;
  uint64_t prp_lists_iova;
  uint64_t prp_list_bytes;
  uint64_t page_bytes;
  // Where each read goes, one after the other.
  uint64_t data;
  uint64_t data_iova;
  // A ChainState.
  uint64_t state;

  uint64_t block_bytes;
  // Of one read or write.
  uint64_t blocks;
  uint64_t reads;
  uint64_t first_lba;
  // Where the complement of the last read is written to, and then flushed; ~0 for nowhere.
  uint64_t write_lba;
  uint64_t timeout_ns;
  // 0: the data is looked at without a fence after the outcome.
  uint64_t fenced;
  // An outcome for each read, for the write and for the flush; and what was read, one after the other.
  uint64_t outcomes;
  uint64_t kept;
  // Goes up with each single command.
  uint64_t launch;
  // Taken by the reads together, from before each is submitted until its outcome is known.
  uint64_t ns;
};
static_assert(sizeof(BlockChain) == 8 * 29, "written by the host");

// All that a leader of one queue pair needs beside the queues, of which no host knows.
struct ChainState {
  Leader leader;
  Pair pair;
  Report report;
  Slot slots[CHAIN_SLOTS];
  uint32_t free_slots[CHAIN_SLOTS];
  Active active[SHARES];
  uint64_t control;
  uint64_t prp_lists_iova;
  uint64_t data_iova;
  BlockIo io;
};
static_assert(sizeof(ChainState) <= 65536, "what the host gives");

template <class T>
GPUNVME_DEVICE T* chain_address(uint64_t address) {
  return reinterpret_cast<T*>(static_cast<uintptr_t>(address));
}

// A leader for gpunvme_block_io and for block_chain.
GPUNVME_DEVICE void lay_out_chain(const BlockChain& run) {
  ChainState& state = *chain_address<ChainState>(run.state);
  state.prp_lists_iova = run.prp_lists_iova;
  state.data_iova = run.data_iova;
  state.control = 0;
  state.report = Report{};
  const uint32_t in_flight = static_cast<uint32_t>(run.in_flight);
  for (uint32_t i = 0; i < in_flight; i++) {
    state.slots[i] = Slot{};
    state.free_slots[i] = i;
  }
  Pair& pair = state.pair;
  pair = Pair{};
  pair.sq = chain_address<Quad>(run.sq);
  pair.tail_doorbell = chain_address<uint32_t>(run.tail_doorbell);
  pair.prp_lists = chain_address<uint64_t>(run.prp_lists);
  pair.prp_list_runs = Runs{&state.prp_lists_iova, 63};
  pair.prp_list_bytes = static_cast<uint32_t>(run.prp_list_bytes);
  pair.page_bytes = static_cast<uint32_t>(run.page_bytes);
  pair.slots = state.slots;
  pair.free_slots = state.free_slots;
  pair.control = &state.control;
  pair.active = state.active;
  pair.qid = static_cast<uint32_t>(run.qid);
  pair.sq_entries = static_cast<uint32_t>(run.sq_entries);
  pair.slot_count = in_flight;
  pair.slot_bits = 5;
  pair.sq_tail = static_cast<uint32_t>(run.sq_tail);
  pair.free_count = in_flight;
  Leader& leader = state.leader;
  leader = Leader{};
  leader.cq = chain_address<const uint64_t>(run.cq);
  leader.head_doorbell = chain_address<uint32_t>(run.head_doorbell);
  leader.pairs = &pair;
  leader.report = &state.report;
  leader.pair_count = 1;
  leader.cq_entries = static_cast<uint32_t>(run.cq_entries);
  leader.cq_head = static_cast<uint32_t>(run.cq_head);
  leader.phase = static_cast<uint32_t>(run.phase);
  leader.batch = 1;
  leader.next_deadline_ns = NO_DEADLINE;
}

template <class Port>
GPUNVME_DEVICE void block_chain(BlockChain& run) {
  ChainState& state = *chain_address<ChainState>(run.state);
  uint64_t* const data = chain_address<uint64_t>(run.data);
  uint64_t* const outcomes = chain_address<uint64_t>(run.outcomes);
  uint64_t* kept = chain_address<uint64_t>(run.kept);
  const uint32_t blocks = static_cast<uint32_t>(run.blocks);
  const uint64_t words = run.blocks * run.block_bytes / 8;
  const auto single = [&](uint32_t opcode, uint64_t lba, uint32_t count) {
    BlockIo& io = state.io;
    io.command = Command{lba, 0, count, 0};
    io.memory = Runs{&state.data_iova, 63};
    io.timeout_ns = run.timeout_ns;
    io.pair = 0;
    io.opcode = opcode;
    io.nsid = 1;
    io.block_bytes = static_cast<uint32_t>(run.block_bytes);
    return block_io<Port>(state.leader, io, ++run.launch);
  };
  uint64_t lba = run.first_lba;
  // One call, by turns of three kinds: block_io is long.
  const uint64_t steps = run.reads + (run.write_lba == ~0ULL ? 0 : 2);
  GPUNVME_ROLLED
  for (uint64_t step = 0; step < steps; step++) {
    const bool reads = step < run.reads;
    const bool writes = step == run.reads;
    GPUNVME_ROLLED
    for (uint64_t word = 0; writes && word < words; word++) data[word] = ~data[word];
    const uint32_t opcode = reads    ? GPUNVME_NVM_OPCODE_READ
                            : writes ? GPUNVME_NVM_OPCODE_WRITE
                                     : GPUNVME_NVM_OPCODE_FLUSH;
    const uint64_t before_ns = Port::now_ns();
    outcomes[step] = single(opcode, reads ? lba : writes ? run.write_lba : 0, reads || writes ? blocks : 0);
    if (reads) run.ns += Port::now_ns() - before_ns;
    if (!reads || outcomes[step] >> OUTCOME_ENDING_SHIFT != static_cast<uint64_t>(Ending::SUCCESS)) continue;
    // The outcome says that the data is there. That this thread sees it, and not what it has seen there before, is the
    // fence's doing: no step of block_io looks at data.
    if (run.fenced != 0) Port::fence();
    GPUNVME_ROLLED
    for (uint64_t word = 0; word < words; word++) *kept++ = data[word];
    lba = data[0];
  }
}

}  // namespace gpunvme
