// The kernel of examples/array_sum.cu, for the stand-in: threads are fibers.
#include <cstring>

#include "array.cuh"
#include "fibers/fiber_team.h"
#include "standin/fiber_port.h"
#include "standin/kernels.h"

namespace {

using gpunvme::FiberTeam;

struct Index {
  uint32_t x;
};

void atomicAdd(unsigned long long* at, unsigned long long value) { FiberTeam::atomic_add(at, value); }

}  // namespace

namespace gnv {

template <class T>
using Array = BasicArray<T, FiberTeam, standin::FiberPort>;

}  // namespace gnv

// Built-in variables of nvcc.
#define __global__
#define threadIdx (Index{FiberTeam::thread()})
#define blockIdx (Index{0})
#define blockDim (Index{FiberTeam::threads()})
#define gridDim (Index{1})
#include "examples/array_sum.cu"

namespace standin {

namespace {

// All threads are those of one block.
void SumPages(void** parameters, Extent grid, Extent block) {
  const gnv::Array<uint64_t> array{Parameter<gnv_array>(parameters, 0)};
  auto* sum = Parameter<Sum*>(parameters, 1);
  RunInterleaved(grid, block, [&] { sum_pages(array, sum); });
}

}  // namespace

Kernel FindMoreKernels(const char* name) { return std::strcmp(name, "sum_pages") == 0 ? SumPages : nullptr; }

}  // namespace standin
