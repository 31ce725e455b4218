// The kernels of examples/fetch_experts.cu, for the stand-in: threads are fibers.
#include "standin/kernels.h"

#include <cstring>
#include <functional>

#include "fetch.cuh"
#include "standin/fiber_port.h"

namespace {

using gpunvme::FiberTeam;

struct Index {
  uint32_t x;
};

void atomicAdd(unsigned long long* at, unsigned long long value) { FiberTeam::atomic_add(at, value); }

}  // namespace

namespace gnv {

using Device = BasicDevice<gpunvme::FiberTeam, standin::FiberPort>;
inline void fetch(const Device& device, const gnv_fetch& fetch) { gpunvme::fetch_experts(device, fetch); }

}  // namespace gnv

// Built-in variables of nvcc.
#define __global__
#define threadIdx (Index{FiberTeam::thread()})
#define blockIdx (Index{FiberTeam::block()})
#define blockDim (Index{FiberTeam::threads()})
#define __syncthreads FiberTeam::sync_block
#include "examples/fetch_experts.cu"

namespace standin {

namespace {

void OnFibers(Extent grid, Extent block, const std::function<void()>& kernel) {
  gpunvme::run_fibers(PollingLaunch(grid.x, block.x), kernel);
}

void Route(void** parameters, Extent grid, Extent block) {
  OnFibers(grid, block, [&] {
    route(Parameter<uint32_t*>(parameters, 0), Parameter<uint64_t>(parameters, 1), Parameter<uint32_t>(parameters, 2),
          Parameter<uint32_t*>(parameters, 3));
  });
}

void FetchExperts(void** parameters, Extent grid, Extent block) {
  OnFibers(grid, block, [&] {
    fetch_experts({Parameter<gnv_device>(parameters, 0)}, Parameter<gnv_fetch>(parameters, 1));
  });
}

void SumExperts(void** parameters, Extent grid, Extent block) {
  OnFibers(grid, block, [&] {
    sum_experts(Parameter<gnv_fetch>(parameters, 0), Parameter<unsigned long long*>(parameters, 1));
  });
}

}  // namespace

Kernel FindMoreKernels(const char* name) {
  if (std::strcmp(name, "route") == 0) return Route;
  if (std::strcmp(name, "fetch_experts") == 0) return FetchExperts;
  if (std::strcmp(name, "sum_experts") == 0) return SumExperts;
  return nullptr;
}

}  // namespace standin
