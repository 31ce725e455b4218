// Kernels of many threads on the stand-in: fibers of one CPU thread, which interleave, also while they wait.
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

// Runs all threads of all blocks. The simulated controller may need the same core.
template <class Kernel>
void RunInterleaved(Extent grid, Extent block, const Kernel& kernel) {
  gpunvme::FiberLaunch launch;
  launch.threads = launch.max_threads = grid.x * block.x;
  launch.max_pauses = 100'000'000;
  launch.between = [polls = 0u]() mutable {
    if (++polls % 256 == 0) sched_yield();
  };
  gpunvme::run_fibers(launch, kernel);
}

}  // namespace standin
