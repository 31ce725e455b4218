// The kernels that the stand-in can run, by their names in PTX.
#pragma once

#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstring>
#include <thread>
#include <vector>

namespace standin {

// The GPU has failed: running kernels throw Killed as soon as they read this.
inline std::atomic<bool> dying{false};
struct Killed {};

inline void DieWhenTold() {
  if (dying) throw Killed();
}

// Called after each empty poll of a leader: an idle leader yields the processor to busy leaders of its grid.
inline void Rest(uint32_t empty_polls) {
  if (empty_polls > 4096) usleep(20);
}

struct Extent {
  unsigned x, y, z;
};

// Runs `block(number)` for all blocks of a grid concurrently, each on its own thread.
template <class Block>
void OnThreads(Extent grid, const Block& block) {
  std::atomic<bool> killed{false};
  std::vector<std::thread> threads;
  for (unsigned number = 0; number < grid.x; number++) {
    threads.emplace_back([&, number] {
      try {
        block(number);
      } catch (const Killed&) {
        killed = true;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  if (killed) throw Killed();
}

// Runs a whole grid. `parameters` points to the kernel's parameters, as for cuLaunchKernel.
using Kernel = void (*)(void** parameters, Extent grid, Extent block);

// Returns a parameter by its index.
template <typename T>
T Parameter(void** parameters, int index) {
  T value;
  std::memcpy(&value, parameters[index], sizeof value);
  return value;
}

// Returns nullptr if no kernel has that name.
Kernel FindKernel(const char* name);

// Kernels of another source of the stand-in, if it is built with one. They take precedence.
__attribute__((weak)) Kernel FindMoreKernels(const char* name);

}  // namespace standin
