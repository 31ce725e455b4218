// Runs kernels of many threads on the stand-in, as fibers of one CPU thread that interleave, even while they wait for a drive.
#pragma once

#include <sched.h>

#include "cpu_port.cuh"
#include "fibers/fiber_team.h"
#include "standin/kernels.h"

namespace standin {

// After an empty poll, the other fibers run.
struct FiberPort : gpunvme::CpuPort {
  static void relax(uint32_t) { gpunvme::FiberBlock::now().pause(); }
};

// A launch for polling kernels. The simulated controller may need the same core.
inline gpunvme::FiberLaunch PollingLaunch(uint32_t blocks, uint32_t threads) {
  gpunvme::FiberLaunch launch;
  launch.blocks = blocks;
  launch.threads = threads;
  launch.max_pauses = 100'000'000;
  launch.between = [polls = 0u]() mutable {
    if (++polls % 256 == 0) sched_yield();
  };
  return launch;
}

// Runs all threads of all blocks concurrently. Only for kernels without block barriers and shared memory.
template <class Kernel>
void RunInterleaved(Extent grid, Extent block, const Kernel& kernel) {
  gpunvme::FiberLaunch launch = PollingLaunch(1, grid.x * block.x);
  launch.max_threads = launch.threads;
  gpunvme::run_fibers(launch, kernel);
}

}  // namespace standin
