// Interface of host and device code in shared memory: plans in one direction, outcomes in the other.
#pragma once

#include "gpunvme_device.h"
#include "target.cuh"

namespace gpunvme {

using Runs = ::gnv_runs;

GPUNVME_DEVICE uint64_t iova_at(const Runs& runs, uint64_t offset) {
  return runs.iovas[offset >> runs.shift] + (offset & ((1ULL << runs.shift) - 1));
}

// One command of a plan.
struct Command {
  uint64_t slba;
  // Offset of its data in the plan's memory, in bytes.
  uint64_t offset;
  // 1 to 65536.
  uint32_t blocks;
  // Index in the outcomes.
  uint32_t index;
};

// The commands of one plan for one queue, in order. The host fills it before posting it. The device reads it once,
// except for `cancelled`.
struct alignas(64) Share {
  const Command* commands;
  // One per command of the whole plan, initially 0.
  uint64_t* outcomes;
  Runs memory;
  // Time limit per command, from its submission.
  uint64_t timeout_ns;
  uint32_t count;
  uint32_t nsid;
  uint32_t block_bytes;
  // GPUNVME_NVM_OPCODE_READ, for example.
  uint32_t opcode;
  // Not 0: no more of its commands are submitted. Set by the host, which then adds CONTROL_CANCEL.
  uint64_t cancelled;
  // Not 0: all outcomes are final, and the device no longer accesses the share.
  uint64_t done;
};

// Maximum number of posted and unfinished shares of a queue: the length of their ring.
constexpr uint32_t SHARES = 64;

// Control word of a queue, written by the host: number of shares ever posted, modulo 2^32, and flags for all of them.
constexpr uint64_t CONTROL_POSTED = 0xffffffffULL;
// Added when a share is cancelled.
constexpr uint64_t CONTROL_CANCEL = 1ULL << 32;
constexpr uint64_t CONTROL_CANCELS = 0x0fffffffULL << 32;
// The leader submits no more commands and ends, even with commands in flight; its next launch continues.
constexpr uint64_t CONTROL_PAUSE = 1ULL << 60;
// No more commands are submitted. Commands in flight are awaited.
constexpr uint64_t CONTROL_HALT = 1ULL << 61;
// The controller is lost: commands in flight are not awaited.
constexpr uint64_t CONTROL_LOST = 1ULL << 62;
// The leader ends as soon as it has no work, instead of lingering.
constexpr uint64_t CONTROL_STOP = 1ULL << 63;

// An outcome is one word: the ending, the command identifier, and the Status field without the Phase Tag. 0: the
// command was not submitted.
enum class Ending : uint64_t { SUCCESS = GNV_SUCCESS, STATUS = GNV_STATUS, TIMEOUT = GNV_TIMEOUT, LOST = GNV_LOST };
constexpr uint32_t OUTCOME_ENDING_SHIFT = GNV_ENDING_SHIFT;
constexpr uint32_t OUTCOME_CID_SHIFT = GNV_CID_SHIFT;

GPUNVME_DEVICE uint64_t outcome_of(Ending ending, uint32_t cid, uint32_t status) {
  return static_cast<uint64_t>(ending) << OUTCOME_ENDING_SHIFT | static_cast<uint64_t>(cid) << OUTCOME_CID_SHIFT | status;
}

// Report of a leader to the host, besides outcomes.
struct alignas(64) Report {
  // Number of finished shares, over all launches.
  uint64_t progress;
  // Increases while the leader runs.
  uint64_t heartbeat;
  // Number of the last launch that ended.
  uint64_t ended;
  // Not 0: a command timed out. No more commands are submitted until the queues are attached again.
  uint64_t halted;
  uint64_t commands;
  uint64_t doorbell_writes;
  // Completions that matched no command.
  uint64_t stale;
  // Commands that the last launch left in flight for the next one.
  uint64_t in_flight;
};

}  // namespace gpunvme
