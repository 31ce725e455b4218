// A leader, its queue pair and its plans of reads in host memory, for programs that run device code on the CPU.
#pragma once

#include <gpunvme/nvme_spec.h>

#include <algorithm>
#include <vector>

#include "leader.cuh"

namespace gpunvme {

class HostLeader {
 public:
  static constexpr uint32_t kPageBytes = 4096, kBlockBytes = 512, kQid = 1;

  // Returns the number of entries of a queue with `slots` commands in flight: the smallest power of two above `slots`.
  static uint32_t entries_for(uint32_t slots) {
    uint32_t entries = 2;
    while (entries <= slots) entries *= 2;
    return entries;
  }

  // The queues have `entries_for(slots)` entries; `doorbells` are those of the SQ and the CQ. Each read has `blocks` blocks.
  HostLeader(void* sq, const uint64_t* cq, uint32_t* doorbells, uint32_t slots, uint32_t blocks)
      : bytes_(blocks * kBlockBytes), blocks_(blocks), slots_(slots), lists_(slots * kPageBytes / 8) {
    const uint32_t entries = entries_for(slots);
    ready_.resize(entries);
    free_slots_.resize(entries);
    // Pages are not contiguous, like memory pinned page by page.
    for (uint64_t at = 0; at < static_cast<uint64_t>(slots) * bytes_; at += kPageBytes) pages_.push_back((1ULL << 32) + 2 * at);
    gnv_queue& queue = leader.queue;
    queue.sq = sq;
    queue.cq = cq;
    queue.tail_doorbell = &doorbells[0];
    queue.head_doorbell = &doorbells[1];
    queue.prp_lists = lists_.data();
    queue.prp_list_runs = {&list_page_, 63};
    queue.slots = slots_.data();
    queue.ready = ready_.data();
    queue.free_slots = free_slots_.data();
    queue.entries = entries;
    queue.slot_count = slots;
    queue.qid = kQid;
    queue.prp_list_bytes = kPageBytes;
    queue.page_bytes = kPageBytes;
    gnv_init_queue(&queue);
    leader.shares = shares_.data();
    leader.control = &control_;
    leader.report = &report;
    leader.active = active_.data();
    leader.tasks = tasks_.data();
    leader.grid = &grid_;
    leader.next_deadline_ns = NO_DEADLINE;
  }
  HostLeader(const HostLeader&) = delete;

  // Posts a share of `count` reads. The leader must have finished all earlier shares.
  void post(uint32_t count) {
    commands_.resize(count);
    outcomes_.assign(count, 0);
    const auto slots = static_cast<uint32_t>(slots_.size());
    for (uint32_t at = 0; at < count; at++) {
      commands_[at] = {static_cast<uint64_t>(at) * blocks_, static_cast<uint64_t>(at % slots) * bytes_, blocks_, at};
    }
    Share share{};
    share.commands = commands_.data();
    share.outcomes = outcomes_.data();
    share.memory = {pages_.data(), 12};
    share.timeout_ns = 10'000'000'000;
    share.count = count;
    share.nsid = 1;
    share.block_bytes = kBlockBytes;
    share.opcode = GPUNVME_NVM_OPCODE_READ;
    shares_[control_ % SHARES] = share;
    control_++;
  }

  // Number of reads of the last share that succeeded.
  uint32_t succeeded() const {
    const auto is_success = [](uint64_t outcome) { return outcome >> OUTCOME_ENDING_SHIFT == GNV_SUCCESS; };
    return static_cast<uint32_t>(std::count_if(outcomes_.begin(), outcomes_.end(), is_success));
  }

  // Whether this word is in GPU memory with the engine `cuda`.
  bool is_local(const uint64_t* at) const {
    const auto* slots = reinterpret_cast<const uint64_t*>(slots_.data());
    return (at >= slots && at < slots + 2 * slots_.size()) || at == &grid_.idle;
  }

  Leader leader{};
  Report report{};

 private:
  const uint32_t bytes_, blocks_;
  std::vector<gnv_slot> slots_;
  std::vector<uint64_t> lists_;
  const uint64_t list_page_ = 1ULL << 40;
  std::vector<uint32_t> ready_, free_slots_;
  std::vector<uint64_t> pages_;
  std::vector<Share> shares_{SHARES};
  std::vector<Active> active_{SHARES};
  std::vector<Task> tasks_{slots_.size()};
  std::vector<Command> commands_;
  std::vector<uint64_t> outcomes_;
  // On its own cache line, since the leader polls it.
  alignas(64) uint64_t control_ = 0;
  Grid grid_{1, 0};
};

}  // namespace gpunvme
