// The kernels of gpu-check/kernels/measure.cu, and gpunvme_serve with warps, for the stand-in.
#include "standin/kernels.h"

#include <x86intrin.h>

#include <cstring>
#include <functional>
#include <memory>

#include "array_sum.cuh"
#include "block_chain.cuh"
#include "block_threads.cuh"
#include "cpu_port.cuh"
#include "drive_load.cuh"
#include "expert_layer.cuh"
#include "fibers/fiber_team.h"
#include "measure.cuh"
#include "original.cuh"
#include "serve.cuh"
#include "solo_team.cuh"
#include "standin/fiber_port.h"
#include "timer.cuh"

namespace standin {

namespace {

struct CpuCycles {
  static uint64_t now() { return __rdtsc(); }
};

// Yields to the controller, whose thread may need the same core.
struct YieldingPort : gpunvme::CpuPort {
  static uint64_t now_ns() {
    sched_yield();
    return gpunvme::CpuPort::now_ns();
  }
};

template <class T>
T& Only(void** parameters) {
  T* run;
  std::memcpy(&run, parameters[0], sizeof run);
  return *run;
}

void Measure(void** parameters, Extent grid, Extent block) {
  auto& run = Only<gpunvme::MeasureRun>(parameters);
  RunInterleaved(grid, block, [&] { gpunvme::measure<gpunvme::FiberTeam, FiberPort, CpuCycles>(run); });
}

void OriginalRead(void** parameters, Extent, Extent) {
  gpunvme::original_read<YieldingPort, gpunvme::PinnedWords>(Only<gpunvme::OriginalRun>(parameters));
}

void TimerSteps(void** parameters, Extent, Extent) {
  gpunvme::timer_steps<gpunvme::CpuPort>(Only<gpunvme::TimerRun>(parameters));
}

// (uint32_t* doorbell, uint64_t tail)
void Ring(void** parameters, Extent, Extent) {
  uint64_t tail;
  std::memcpy(&tail, parameters[1], sizeof tail);
  gpunvme::CpuPort::mmio_store32(&Only<uint32_t>(parameters), static_cast<uint32_t>(tail));
}

void BlockChain(void** parameters, Extent, Extent) {
  gpunvme::block_chain<gpunvme::SoloTeam, gpunvme::CpuPort>(Only<gpunvme::BlockChain>(parameters));
}

void BlockThreads(void** parameters, Extent grid, Extent block) {
  const auto& run = Only<gpunvme::BlockThreads>(parameters);
  RunInterleaved(grid, block, [&] { gpunvme::block_threads<gpunvme::FiberTeam, FiberPort>(run); });
}

void QueueLayout(void** parameters, Extent grid, Extent block) {
  const auto memory = Parameter<gpunvme::QueueMemory>(parameters, 0);
  gpunvme::run_solo(grid.x * block.x, [&] { gpunvme::lay_out_queues<gpunvme::SoloTeam>(memory); });
}

void DriveServe(void** parameters, Extent grid, Extent block) {
  const auto service = Parameter<gpunvme::DriveService>(parameters, 0);
  auto& totals = *Parameter<gpunvme::DriveTotals*>(parameters, 1);
  RunInterleaved(grid, block, [&] { gpunvme::serve_drive<gpunvme::FiberTeam, FiberPort>(service, totals); });
}

void DriveLoad(void** parameters, Extent grid, Extent block) {
  const auto load = Parameter<gpunvme::DriveLoad>(parameters, 0);
  auto& totals = *Parameter<gpunvme::DriveTotals*>(parameters, 1);
  RunInterleaved(grid, block, [&] { gpunvme::load_by_device<gpunvme::FiberTeam, FiberPort>(load, totals); });
}

void TicketLoad(void** parameters, Extent grid, Extent block) {
  const auto load = Parameter<gpunvme::DriveLoad>(parameters, 0);
  auto& totals = *Parameter<gpunvme::DriveTotals*>(parameters, 1);
  auto* words = Parameter<uint8_t*>(parameters, 2);
  RunInterleaved(grid, block, [&] { gpunvme::load_by_tickets<gpunvme::FiberTeam, FiberPort>(load, totals, words); });
}

void ArraySum(void** parameters, Extent grid, Extent block) {
  const gnv::BasicArray<uint64_t, gpunvme::FiberTeam, FiberPort> array{Parameter<gnv_array>(parameters, 0)};
  const auto run = Parameter<gpunvme::ArraySum>(parameters, 1);
  RunInterleaved(grid, block, [&] { gpunvme::array_sum(array, run); });
}

// Runs each block on a separate thread, so that no block waits for the reads of another.
void BlocksAtOnce(Extent grid, Extent block, const std::function<void()>& kernel) {
  OnThreads(grid, [&](unsigned number) {
    const gpunvme::FiberLaunch launch = PollingLaunch(grid.x, block.x);
    std::make_unique<gpunvme::FiberBlock>(launch, number, kernel)->run();
  });
}

void RouteExperts(void** parameters, Extent grid, Extent block) {
  BlocksAtOnce(grid, block, [&] {
    gpunvme::route_experts<gpunvme::FiberTeam, FiberPort>(
        Parameter<uint32_t*>(parameters, 0), Parameter<uint32_t>(parameters, 1), Parameter<uint32_t>(parameters, 2),
        Parameter<uint32_t*>(parameters, 3));
  });
}

void FetchExperts(void** parameters, Extent grid, Extent block) {
  const gnv::BasicDevice<gpunvme::FiberTeam, FiberPort> device{Parameter<gnv_device>(parameters, 0)};
  const auto fetch = Parameter<gnv_fetch>(parameters, 1);
  BlocksAtOnce(grid, block, [&] { gpunvme::fetch_experts(device, fetch); });
}

void SumExperts(void** parameters, Extent grid, Extent block) {
  const auto fetch = Parameter<gnv_fetch>(parameters, 0);
  auto* results = Parameter<gpunvme::ExpertSum*>(parameters, 1);
  BlocksAtOnce(grid, block, [&] { gpunvme::sum_experts<gpunvme::FiberTeam>(fetch, results); });
}

void VerifyRead(void** parameters, Extent grid, Extent block) {
  const auto read = Parameter<gpunvme::ReadExperts>(parameters, 0);
  auto* verdict = Parameter<gpunvme::ChecksumVerdict*>(parameters, 1);
  BlocksAtOnce(grid, block, [&] { gpunvme::verify_read<gpunvme::FiberTeam>(read, verdict); });
}

void SumRead(void** parameters, Extent grid, Extent block) {
  const auto read = Parameter<gpunvme::ReadExperts>(parameters, 0);
  auto* results = Parameter<gpunvme::ReadSum*>(parameters, 1);
  BlocksAtOnce(grid, block, [&] { gpunvme::sum_read<gpunvme::FiberTeam, FiberPort>(read, results); });
}

void DriveEnd(void** parameters, Extent, Extent) {
  gpunvme::end_drive<gpunvme::CpuPort>(*Parameter<gpunvme::DriveTotals*>(parameters, 0));
}

void SumPattern(void** parameters, Extent grid, Extent block) {
  gpunvme::run_solo(grid.x * block.x, [&] {
    gpunvme::sum_pattern<gpunvme::SoloTeam>(Parameter<uint64_t>(parameters, 0), Parameter<uint64_t>(parameters, 1),
                                            Parameter<uint64_t*>(parameters, 2));
  });
}

struct RestingPort : gpunvme::CpuPort {
  static void relax(uint32_t empty_polls) {
    Rest(empty_polls);
    gpunvme::CpuPort::relax(empty_polls);
  }
};

// As on a GPU, each leader is a warp: 32 fibers of a thread.
void Serve(void** parameters, Extent grid, Extent block) {
  auto* leaders = Parameter<gpunvme::Leader*>(parameters, 0);
  const auto launch = Parameter<uint64_t>(parameters, 1);
  BlocksAtOnce(grid, block, [=] { gpunvme::serve<gpunvme::FiberTeam, RestingPort>(leaders[gpunvme::FiberTeam::block()], launch); });
}

}  // namespace

Kernel FindMoreKernels(const char* name) {
  if (std::strcmp(name, "gpunvme_measure") == 0) return Measure;
  if (std::strcmp(name, "gpunvme_original_read") == 0) return OriginalRead;
  if (std::strcmp(name, "gpunvme_timer_steps") == 0) return TimerSteps;
  if (std::strcmp(name, "gpunvme_ring") == 0) return Ring;
  if (std::strcmp(name, "gpunvme_serve") == 0) return Serve;
  if (std::strcmp(name, "gpunvme_block_chain") == 0) return BlockChain;
  if (std::strcmp(name, "gpunvme_block_threads") == 0) return BlockThreads;
  if (std::strcmp(name, "gpunvme_queue_layout") == 0) return QueueLayout;
  if (std::strcmp(name, "gpunvme_drive_serve") == 0) return DriveServe;
  if (std::strcmp(name, "gpunvme_drive_load") == 0) return DriveLoad;
  if (std::strcmp(name, "gpunvme_ticket_load") == 0) return TicketLoad;
  if (std::strcmp(name, "gpunvme_array_sum") == 0) return ArraySum;
  if (std::strcmp(name, "gpunvme_route_experts") == 0) return RouteExperts;
  if (std::strcmp(name, "gpunvme_fetch_experts") == 0) return FetchExperts;
  if (std::strcmp(name, "gpunvme_sum_experts") == 0) return SumExperts;
  if (std::strcmp(name, "gpunvme_verify_read") == 0) return VerifyRead;
  if (std::strcmp(name, "gpunvme_sum_read") == 0) return SumRead;
  if (std::strcmp(name, "gpunvme_drive_end") == 0) return DriveEnd;
  if (std::strcmp(name, "gpunvme_sum_pattern") == 0) return SumPattern;
  return nullptr;
}

}  // namespace standin
