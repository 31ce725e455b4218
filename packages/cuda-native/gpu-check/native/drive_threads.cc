#include "drive_threads.h"

#include <sched.h>

#include "cpu_port.cuh"
#include "solo_team.cuh"

namespace gpunvme {

DriveThreads::DriveThreads(std::vector<DriveQueue> queues, const DriveNamespace& space, const DrivePlan& plan,
                           unsigned threads)
    : queues_(std::move(queues)), space_(space), plan_(plan) {
  for (DriveQueue& queue : queues_) {
    in_flight_.emplace_back(queue.slots, 0);
    queue.in_flight = reinterpret_cast<uintptr_t>(in_flight_.back().data());
  }
  try {
    for (unsigned thread = 0; thread < threads; thread++) {
      threads_.emplace_back([this, thread, threads] { Run(thread, threads); });
    }
  } catch (...) {
    // The destructor of a thread that runs would end the process.
    Stop();
    throw;
  }
}

DriveThreads::~DriveThreads() { Stop(); }

const std::vector<DriveQueue>& DriveThreads::Stop() {
  stopping_.store(true, std::memory_order_relaxed);
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
  return queues_;
}

void DriveThreads::Run(size_t first, size_t step) {
  std::vector<PatternDrive<SoloTeam, CpuPort>> drives;
  for (size_t at = first; at < queues_.size(); at += step) drives.emplace_back(queues_[at], space_, plan_);
  for (uint32_t idle = 0; !stopping_.load(std::memory_order_relaxed);) {
    bool is_busy = false;
    for (auto& drive : drives) is_busy |= drive.turn();
    idle = is_busy ? 0 : idle + 1;
    // The host may be a thread on the same core.
    if (idle % 1024 == 1023) sched_yield();
    else if (idle > 0) __builtin_ia32_pause();
  }
  for (auto& drive : drives) drive.report();
}

}  // namespace gpunvme
