// Memory of a session's leaders: their structures, in memory of their device, and the state that they share with the host.
#pragma once

#include <cstdint>
#include <vector>

#include "doorbell_proxy.h"
#include "executor.h"
#include "queue_layout.h"
#include "share.cuh"

namespace gpunvme {

struct LeaderOptions {
  // Time without work after which a leader ends.
  uint64_t linger_ns;
  // Address of a word that counts nanoseconds, for time-outs; 0 for the executor's clock.
  uint64_t clock;
  // Number of the first share of each queue, for tests of the wrap-around at 2^32.
  uint32_t first_share = 0;
  // Maximum run time of a launch; 0 for none.
  uint64_t run_limit_ns = 0;
  // Whether a thread forwards doorbells, because leaders cannot write the controller's registers.
  bool forwards_doorbells = false;
};

// State that a leader and the host share.
struct SharedState {
  Report* report;
  // Ring of SHARES entries.
  Share* shares;
  uint64_t* control;
};

// Allocated from Fill to Free. Memory that leaders may still access is never freed: the destructor frees nothing.
class LeaderMemory {
 public:
  LeaderMemory(Executor& executor, const LeaderOptions& options, void* context)
      : executor_(executor), options_(options), context_(context) {}

  // Assigns the offsets of one leader per queue.
  void Place(const std::vector<QueueLayout>& queues);
  size_t shared_bytes() const { return shared_bytes_; }
  size_t local_bytes() const { return local_bytes_; }

  // Allocates and initializes the memory, for which there must be room. After a failure, Free releases what was allocated.
  // Doorbells are offsets from `registers`. `are_memory`: the registers are ordinary memory, such as a simulator's.
  Problem Fill(const Memory& registers, bool are_memory, const std::vector<QueueLayout>& queues);
  // Starts to forward doorbells, if the options say so.
  Problem Forward(const Memory& registers, const std::vector<QueueLayout>& queues, DoorbellProxy* proxy) const;
  SharedState shared(size_t number) const;
  // Returns the address of a leader's structure, for the executor. The structures are contiguous.
  uint64_t leader(size_t number) const;

  // Reads the positions of the queues, and the generations of their slots. All leaders must have ended.
  Problem ReadPositions(std::vector<QueueLayout>* queues) const;
  void Free();

 private:
  // Offsets of the arrays of one leader.
  struct Places {
    uint64_t slots, ready, free_slots, active, tasks;
    uint64_t shares, control;
  };

  Problem Reach(const Memory& memory, const char* what, bool is_registers, uint64_t* device);
  Problem FillLeader(size_t number, const QueueLayout& from, uint64_t bar, uint64_t clock, uint8_t* image);

  Executor& executor_;
  const LeaderOptions options_;
  // Argument of Port::wake_host.
  void* const context_;
  std::vector<Places> places_;
  // Offsets of the arrays of all leaders, and of words for forwarded doorbells.
  uint64_t leaders_ = 0, grids_ = 0, reports_ = 0, words_ = 0;
  size_t shared_bytes_ = 0, local_bytes_ = 0;
  // The range of the doorbells, as offsets from the registers: no other register is made accessible to leaders.
  uint64_t first_doorbell_ = 0, doorbells_end_ = 0;
  SharedBlock shared_;
  uint64_t local_ = 0;
  // Addresses of memory that was made accessible to leaders.
  std::vector<uint64_t> reached_;
};

}  // namespace gpunvme
