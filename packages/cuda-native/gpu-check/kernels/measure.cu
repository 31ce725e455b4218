// Kernels of gpu-check alone: what single steps of the queue code cost, and what the loop before it cost. One block of one
// thread each.
#include "block_chain.cuh"
#include "gpu_port.cuh"
#include "measure.cuh"
#include "original.cuh"
#include "timer.cuh"

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

extern "C" __global__ void __launch_bounds__(1) gpunvme_timer_steps(TimerRun* run) { timer_steps<GpuPort>(*run); }

// Tells a controller once more what it was told last: nothing is to be fetched.
extern "C" __global__ void __launch_bounds__(1) gpunvme_ring(uint32_t* doorbell, uint64_t tail) {
  GpuPort::mmio_store32(doorbell, static_cast<uint32_t>(tail));
}

// A leader that no host feeds, for gpunvme_block_io and for the next.
extern "C" __global__ void __launch_bounds__(1) gpunvme_chain_leader(BlockChain* run) { lay_out_chain(*run); }

// A program with a reason of its own to read: block_io, called from another kernel than the one that is shipped.
extern "C" __global__ void __launch_bounds__(1) gpunvme_block_chain(BlockChain* run) { block_chain<GpuPort>(*run); }
