// Executes a single read, write or flush, for GPU programs that access blocks without the host.
#pragma once

#include "serve.cuh"

namespace gpunvme {

// Must be in global memory of the device. Unused fields are 0.
struct BlockIo {
  // Set by the caller. `index` is 0. For a flush, all fields are 0.
  Command command;
  // Memory to which `command.offset` refers.
  Runs memory;
  // Time after which the command is abandoned and the leader halted.
  uint64_t timeout_ns;
  // Index of the queue in the leader.
  uint32_t pair;
  uint32_t opcode;
  uint32_t nsid;
  uint32_t block_bytes;

  // Result: an outcome as in share.cuh; 0 if nothing was submitted: the leader was halted or paused, or its last launch left
  // shares of this queue or commands in flight, which the next launch of `serve` continues.
  uint64_t outcome;

  // Used by block_io: the leader's temporary and saved state.
  uint64_t control;
  Share share;
  Share* shares_before;
  const uint64_t* control_before;
  uint64_t seen_before;
  uint64_t linger_before;
  uint32_t taken_before;
  uint32_t served_before;
  uint32_t stopping_before;
};

// Executes the command as a share of its own on a leader that is not running, and returns the outcome. Shares that the
// host has posted to other queues of the leader are served too; those of this queue are served by the next launch.
// `launch` is as for serve: this call counts as one. It does not access data: a caller that does must call
// `Port::fence()` first.
template <class Port>
GPUNVME_DEVICE uint64_t block_io(Leader& leader, BlockIo& io, uint64_t launch) {
  Pair& pair = leader.pairs[io.pair];
  io.outcome = 0;
  if (in_flight_of(leader) > 0 || pair.taken != pair.served) {
    report_end<Port>(leader, launch);
    return 0;
  }
  io.share = Share{&io.command, &io.outcome,  io.memory, io.timeout_ns, 1, io.nsid, io.block_bytes,
                   io.opcode,   0, 0};
  io.control = 1 | (Port::load_relaxed64(pair.control) & (CONTROL_HALT | CONTROL_LOST));

  // Replaces the host's share ring of this queue for the duration of the call. All accepted shares are done, so numbers
  // can restart at 0: a late completion finds the share with its number done, or accepted and closed.
  io.shares_before = pair.shares;
  io.control_before = pair.control;
  io.seen_before = pair.seen_control;
  io.taken_before = pair.taken;
  io.served_before = pair.served;
  io.linger_before = leader.linger_ns;
  io.stopping_before = leader.stopping ? 1 : 0;
  pair.shares = &io.share;
  pair.control = &io.control;
  pair.seen_control = 0;
  pair.taken = 0;
  pair.served = 0;
  leader.linger_ns = 0;
  serve<Port>(leader, launch, true);
  pair.shares = io.shares_before;
  pair.control = io.control_before;
  pair.seen_control = io.seen_before;
  pair.taken = io.taken_before;
  pair.served = io.served_before;
  leader.linger_ns = io.linger_before;
  leader.stopping = leader.stopping || io.stopping_before != 0;
  return Port::load_relaxed64(&io.outcome);
}

}  // namespace gpunvme
