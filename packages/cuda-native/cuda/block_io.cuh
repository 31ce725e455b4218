// A single read, write or flush: for programs of the GPU that want one block and its outcome, and no host in between.
#pragma once

#include "serve.cuh"

namespace gpunvme {

// In memory that the device addresses as global. Zeros where nothing is to be said.
struct BlockIo {
  // Said by the caller.
  // `index` is 0. For a flush all of it is 0.
  Command command;
  // Where `command.offset` counts from.
  Runs memory;
  // After which it is given up, and the leader halted.
  uint64_t timeout_ns;
  // Its place among the leader's queues.
  uint32_t pair;
  uint32_t opcode;
  uint32_t nsid;
  uint32_t block_bytes;

  // What it becomes of: an outcome as a plan's, 0 where the leader was halted before and nothing was submitted.
  uint64_t outcome;

  // For block_io itself: what it lends the leader, and what the leader had before.
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

// Does it on a leader that is not running, as a share of one command that no host posted, and gives its outcome. What the
// host has posted to other queues of the leader meanwhile is served as well, what it has posted to this one by the next
// launch. `launch` is as for serve: a call of this is one. No step of it looks at data: who calls it and looks at what was
// read puts `Port::fence()` between the two.
template <class Port>
GPUNVME_DEVICE uint64_t block_io(Leader& leader, BlockIo& io, uint64_t launch) {
  Pair& pair = leader.pairs[io.pair];
  io.outcome = 0;
  io.share = Share{&io.command, &io.outcome,  io.memory, io.timeout_ns, 1, io.nsid, io.block_bytes,
                   io.opcode,   0, 0};
  io.control = 1 | (Port::load_relaxed64(pair.control) & (CONTROL_HALT | CONTROL_LOST));

  // The queue has another host for as long as this takes. All shares that it has taken are done, so that their numbers may
  // begin anew: a completion that is late finds the one in its place done, or taken and closed.
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
  serve<Port>(leader, launch);
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
