// Kernels that only gpu-check uses: the cost of single steps of the queue code, the cost of the original loop, and programs that
// use gnv::Device, gnv::Array and gnv::fetch. One block of one thread each, except where noted.
#include "array_sum.cuh"
#include "block_chain.cuh"
#include "block_threads.cuh"
#include "drive_load.cuh"
#include "expert_layer.cuh"
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

// One warp.
extern "C" __global__ void __launch_bounds__(32) gpunvme_measure(MeasureRun* run) { measure<GpuTeam, GpuPort, GpuCycles>(*run); }

extern "C" __global__ void __launch_bounds__(1) gpunvme_timer_steps(TimerRun* run) { timer_steps<GpuPort>(*run); }

// Writes the current tail to a doorbell again: the controller has nothing to fetch.
extern "C" __global__ void __launch_bounds__(1) gpunvme_ring(uint32_t* doorbell, uint64_t tail) {
  GpuPort::mmio_store32(doorbell, static_cast<uint32_t>(tail));
}

extern "C" __global__ void __launch_bounds__(1) gpunvme_block_chain(BlockChain* run) {
  block_chain<GpuTeam, GpuPort>(*run);
}

// Any number of blocks of 32 threads.
extern "C" __global__ void __launch_bounds__(32) gpunvme_block_threads(BlockThreads* run) {
  block_threads<GpuTeam, GpuPort>(*run);
}

// One thread per queue.
extern "C" __global__ void __launch_bounds__(128) gpunvme_queue_layout(const QueueMemory memory) {
  lay_out_queues<GpuTeam>(memory);
}

// One warp per queue, in blocks of 32 threads.
extern "C" __global__ void __launch_bounds__(32) gpunvme_drive_serve(const DriveService service, DriveTotals* totals) {
  serve_drive<GpuTeam, GpuPort>(service, *totals);
}

// Any number of blocks of up to 128 threads. All blocks must be resident at the same time.
extern "C" __global__ void __launch_bounds__(128) gpunvme_drive_load(const DriveLoad load, DriveTotals* totals) {
  load_by_device<GpuTeam, GpuPort>(load, *totals);
}

// Like gpunvme_drive_load. `words` are a TicketWords and its arrays for each queue, initially 0.
extern "C" __global__ void __launch_bounds__(128) gpunvme_ticket_load(const DriveLoad load, DriveTotals* totals, uint8_t* words) {
  load_by_tickets<GpuTeam, GpuPort>(load, *totals, words);
}

extern "C" __global__ void __launch_bounds__(1) gpunvme_drive_end(DriveTotals* totals) { end_drive<GpuPort>(*totals); }

// Any number of blocks and threads.
extern "C" __global__ void gpunvme_sum_pattern(uint64_t seed, uint64_t words, uint64_t* sum) {
  sum_pattern<GpuTeam>(seed, words, sum);
}

// Any number of blocks of whole warps.
extern "C" __global__ void gpunvme_array_sum(gnv::Array<uint64_t> array, ArraySum run) { array_sum(array, run); }

// One block of 32 threads.
extern "C" __global__ void gpunvme_route_experts(uint32_t* ids, uint32_t count, uint32_t experts, uint32_t* launches) {
  route_experts<GpuTeam, GpuPort>(ids, count, experts, launches);
}

// Any number of blocks of whole warps.
extern "C" __global__ void gpunvme_fetch_experts(gnv::Device device, gnv_fetch fetch) { gnv::fetch(device, fetch); }

// One block per position.
extern "C" __global__ void gpunvme_sum_experts(gnv_fetch fetch, ExpertSum* results) {
  sum_experts<GpuTeam>(fetch, results);
}
extern "C" __global__ void gpunvme_sum_read(ReadExperts read, ReadSum* results) { sum_read<GpuTeam, GpuPort>(read, results); }

// One block per extent, of whole warps.
extern "C" __global__ void gpunvme_verify_read(ReadExperts read, ChecksumVerdict* verdict) {
  verify_read<GpuTeam>(read, verdict);
}
