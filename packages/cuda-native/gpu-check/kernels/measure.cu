// Kernels of gpu-check alone: what single steps of the queue code cost, and what the loop before it cost. One block of one
// thread each.
#include "gpu_port.cuh"
#include "measure.cuh"
#include "original.cuh"

using namespace gpunvme;

struct GpuCycles {
  static GPUNVME_DEVICE uint64_t now() {
    uint64_t cycles;
    asm volatile("mov.u64 %0, %clock64;" : "=l"(cycles)::"memory");
    return cycles;
  }
};

extern "C" __global__ void __launch_bounds__(1) gpunvme_original_read(OriginalRun* run) {
  original_read<GpuPort, PinnedWords>(*run);
}

extern "C" __global__ void __launch_bounds__(1) gpunvme_measure(MeasureRun* run) { measure<GpuPort, GpuCycles>(*run); }
