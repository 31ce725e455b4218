// What host and device code tell each other through memory that both see: plans one way, outcomes the other.
#pragma once

#include "target.cuh"

namespace gpunvme {

// Where the bytes of some memory are for the controller: runs of 2^shift bytes each, one address a run. Memory that is
// in one piece is one run, with a shift of 63.
struct Runs {
  const uint64_t* iovas;
  uint64_t shift;
};

GPUNVME_DEVICE uint64_t iova_at(const Runs& runs, uint64_t offset) {
  return runs.iovas[offset >> runs.shift] + (offset & ((1ULL << runs.shift) - 1));
}

// One command of a plan.
struct Command {
  uint64_t slba;
  // Where its data lies in the memory that the plan is executed on, in bytes.
  uint64_t offset;
  // 1 to 65536.
  uint32_t blocks;
  // Its place among the outcomes.
  uint32_t index;
};

// The commands of one plan for one queue, in order. The host fills it before it posts it; the device reads it once,
// apart from `cancelled`.
struct alignas(64) Share {
  const Command* commands;
  // One for each command of the whole plan, all 0 at first.
  uint64_t* outcomes;
  Runs memory;
  // For each command, from its submission.
  uint64_t timeout_ns;
  uint32_t count;
  uint32_t nsid;
  uint32_t block_bytes;
  // GPUNVME_NVM_OPCODE_READ and the like.
  uint32_t opcode;
  // Not 0: nothing more of it is to be submitted. Set by the host, which then counts CONTROL_CANCEL up.
  uint64_t cancelled;
  // Not 0: it has as many outcomes as it ever will, and the device touches nothing of it any more.
  uint64_t done;
};

// Shares of a queue that are posted and not done, at most: the length of the ring that they stand in.
constexpr uint32_t SHARES = 64;

// The host's word to a queue: how many shares it has ever posted, modulo 2^32, and what holds for all of them.
constexpr uint64_t CONTROL_POSTED = 0xffffffffULL;
// Added to whenever a share was cancelled.
constexpr uint64_t CONTROL_CANCEL = 1ULL << 32;
constexpr uint64_t CONTROL_CANCELS = 0x0fffffffULL << 32;
// Nothing more is submitted for now: the leader ends when nothing is in flight, and its next launch goes on.
constexpr uint64_t CONTROL_PAUSE = 1ULL << 60;
// Nothing more is submitted; what is in flight is waited for.
constexpr uint64_t CONTROL_HALT = 1ULL << 61;
// The device is gone: nothing is waited for.
constexpr uint64_t CONTROL_LOST = 1ULL << 62;
// To end as soon as nothing is left to do, instead of waiting for more.
constexpr uint64_t CONTROL_STOP = 1ULL << 63;

// An outcome is one word: how the command ended, its identifier, and its Status field without the Phase Tag. A word of 0
// is a command that never was submitted.
enum class Ending : uint64_t { SUCCESS = 1, STATUS = 2, TIMEOUT = 3, LOST = 4 };
constexpr uint32_t OUTCOME_ENDING_SHIFT = 32;
constexpr uint32_t OUTCOME_CID_SHIFT = 16;

GPUNVME_DEVICE uint64_t outcome_of(Ending ending, uint32_t cid, uint32_t status) {
  return static_cast<uint64_t>(ending) << OUTCOME_ENDING_SHIFT | static_cast<uint64_t>(cid) << OUTCOME_CID_SHIFT | status;
}

// What a leader tells the host, beside outcomes.
struct alignas(64) Report {
  // Shares that are done, over all launches.
  uint64_t progress;
  // Goes up for as long as the leader lives.
  uint64_t heartbeat;
  // The number of the last launch that has ended.
  uint64_t ended;
  // Not 0: a command got no answer in time, so that nothing more is submitted before the queues are attached again.
  uint64_t halted;
  uint64_t commands;
  uint64_t doorbell_writes;
  // Completions that belonged to no command.
  uint64_t stale;
  uint64_t reserved;
};

}  // namespace gpunvme
