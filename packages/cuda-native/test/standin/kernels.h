// The kernels that the stand-in knows, by the names that PTX has for them.
#pragma once

#include <atomic>

namespace standin {

// Nothing runs any more on the GPU: what still does is to throw Killed as soon as it sees this.
inline std::atomic<bool> dying{false};
struct Killed {};

inline void DieWhenTold() {
  if (dying) throw Killed();
}

struct Extent {
  unsigned x, y, z;
};

// Runs a whole grid. `parameters` points to each of the kernel's parameters, as cuLaunchKernel has them.
using Kernel = void (*)(void** parameters, Extent grid, Extent block);

// nullptr where there is none of that name.
Kernel FindKernel(const char* name);

// More of them, where a build of the stand-in has another source with some.
__attribute__((weak)) Kernel FindMoreKernels(const char* name);

}  // namespace standin
