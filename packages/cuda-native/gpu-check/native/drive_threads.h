// Serves queues in host memory with CPU threads.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

#include "pattern_drive.cuh"

namespace gpunvme {

// A drive whose threads each serve a share of the queues. Addresses are those of this process.
class DriveThreads {
 public:
  // Starts `threads` threads. All constant words of `queues` are set, except `in_flight`. Throws std::system_error, with no
  // thread left, if a thread cannot be created.
  DriveThreads(std::vector<DriveQueue> queues, const DriveNamespace& space, const DrivePlan& plan, unsigned threads);
  ~DriveThreads();

  // Ends the threads. Returns the queues with their counts.
  const std::vector<DriveQueue>& Stop();

 private:
  void Run(size_t first, size_t step);

  std::vector<DriveQueue> queues_;
  const DriveNamespace space_;
  const DrivePlan plan_;
  std::vector<std::vector<uint32_t>> in_flight_;
  std::atomic<bool> stopping_{false};
  std::vector<std::thread> threads_;
};

}  // namespace gpunvme
