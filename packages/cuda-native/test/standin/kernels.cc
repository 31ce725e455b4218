// Implementations of the kernels that the stand-in can launch. The first ones, which are declared in kernels.ptx, are
// only for tests of the wrappers of driver functions.
#include "standin/kernels.h"

#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <functional>
#include <mutex>

#include "checksum.cuh"
#include "cpu_port.cuh"
#include "fibers/fiber_team.h"
#include "gpunvme.cuh"
#include "pattern.cuh"
#include "scatter.cuh"
#include "serve.cuh"
#include "solo_team.cuh"
#include "standin/fiber_port.h"
#include "store32.cuh"

// With a GPU, the host polls.
void gpunvme::CpuPort::wake_host(void*) {}

namespace standin {

namespace {

// (uint32_t* to, uint32_t value): each thread of each block adds `value` to `*to`.
void Add(void** parameters, Extent grid, Extent block) {
  auto* to = Parameter<uint32_t*>(parameters, 0);
  const uint32_t threads = grid.x * grid.y * grid.z * block.x * block.y * block.z;
  __atomic_fetch_add(to, threads * Parameter<uint32_t>(parameters, 1), __ATOMIC_SEQ_CST);
}

// (uint32_t* until): runs until the host stores a value other than 0 at `until`.
void Wait(void** parameters, Extent, Extent) {
  const auto* until = Parameter<const uint32_t*>(parameters, 0);
  while (__atomic_load_n(until, __ATOMIC_ACQUIRE) == 0) {
    DieWhenTold();
    usleep(50);
  }
}

// (struct { uint64_t to; uint32_t words[4]; }): stores the words.
void Struct(void** parameters, Extent, Extent) {
  struct Given {
    uint64_t to;
    uint32_t words[4];
  };
  const auto given = Parameter<Given>(parameters, 0);
  std::memcpy(reinterpret_cast<void*>(given.to), given.words, sizeof given.words);
}

// Runs a kernel as fibers of one thread, in an order that a GPU would not choose. One grid at a time.
void OnFibers(Extent grid, Extent block, const std::function<void()>& kernel) {
  static std::mutex mutex;
  const std::lock_guard<std::mutex> lock(mutex);
  gpunvme::FiberLaunch launch;
  launch.blocks = grid.x;
  launch.threads = block.x;
  gpunvme::run_fibers(launch, kernel);
}

// Returns the job of a kernel in cuda/kernels.cu, whose parameters are the members of the job, of 8 bytes each.
template <typename Job, int kCount>
Job JobOf(void** parameters) {
  static_assert(sizeof(Job) == 8 * kCount);
  Job job;
  for (int i = 0; i < kCount; i++) std::memcpy(reinterpret_cast<uint8_t*>(&job) + 8 * i, parameters[i], 8);
  return job;
}

void Checksum(void** parameters, Extent grid, Extent block) {
  const auto job = JobOf<gpunvme::ChecksumJob, 7>(parameters);
  OnFibers(grid, block, [&] { gpunvme::checksum<gpunvme::FiberTeam>(job); });
}

void Scatter(void** parameters, Extent grid, Extent block) {
  const auto job = JobOf<gpunvme::ScatterJob, 4>(parameters);
  OnFibers(grid, block, [&] { gpunvme::scatter<gpunvme::FiberTeam>(job); });
}

void PatternFill(void** parameters, Extent grid, Extent block) {
  const auto job = JobOf<gpunvme::PatternJob, 4>(parameters);
  OnFibers(grid, block, [&] { gpunvme::pattern_fill<gpunvme::FiberTeam>(job); });
}

void PatternVerify(void** parameters, Extent grid, Extent block) {
  const auto job = JobOf<gpunvme::PatternJob, 4>(parameters);
  auto* verdict = Parameter<gpunvme::PatternVerdict*>(parameters, 4);
  OnFibers(grid, block, [&] { gpunvme::pattern_verify<gpunvme::FiberTeam>(job, verdict); });
}

// (uint32_t* at, uint64_t value)
void Store32(void** parameters, Extent, Extent) {
  gpunvme::store32<gpunvme::CpuPort>(Parameter<uint32_t*>(parameters, 0), Parameter<uint64_t>(parameters, 1));
}

// Port of a leader on a GPU that can fail: each poll and each read of the clock ends the kernel after the failure.
struct MortalPort : gpunvme::CpuPort {
  static uint64_t load_completion64(const uint64_t* at) {
    DieWhenTold();
    return gpunvme::CpuPort::load_completion64(at);
  }
  static uint64_t now_ns() {
    DieWhenTold();
    return gpunvme::CpuPort::now_ns();
  }
  static void relax(uint32_t empty_polls) {
    Rest(empty_polls);
    gpunvme::CpuPort::relax(empty_polls);
  }
};

// (Leader* leaders, uint64_t launch): each leader on a thread of its own instead of a warp.
void Serve(void** parameters, Extent grid, Extent) {
  auto* leaders = Parameter<gpunvme::Leader*>(parameters, 0);
  const auto launch = Parameter<uint64_t>(parameters, 1);
  OnThreads(grid, [&](unsigned block) { gpunvme::serve<gpunvme::SoloTeam, MortalPort>(leaders[block], launch); });
}

// (gnv_device device, gnv_buffer buffer, uint64_t* outcomes, uint32_t drive): thread n reads block n to the n-th place.
void ReadBlocks(void** parameters, Extent grid, Extent block) {
  using Device = gnv::BasicDevice<gpunvme::FiberTeam, FiberPort>;
  const Device device{Parameter<gnv_device>(parameters, 0)};
  const auto buffer = Parameter<gnv_buffer>(parameters, 1);
  auto* outcomes = Parameter<uint64_t*>(parameters, 2);
  const auto drive = Parameter<uint32_t>(parameters, 3);
  RunInterleaved(grid, block, [&] {
    const uint32_t thread = gpunvme::FiberTeam::thread();
    const gnv::Outcome outcome = device.wait(device.read(drive, thread, 1, buffer, uint64_t{thread} * 512));
    outcomes[thread] = static_cast<uint64_t>(outcome.ending()) << 32 | outcome.status();
  });
}

struct Entry {
  const char* name;
  Kernel kernel;
};

constexpr Entry kEntries[] = {
    {"standin_add", Add},
    {"standin_wait", Wait},
    {"standin_struct", Struct},
    {"standin_read_blocks", ReadBlocks},
    {"gpunvme_serve", Serve},
    {"gpunvme_checksum", Checksum},
    {"gpunvme_scatter", Scatter},
    {"gpunvme_pattern_fill", PatternFill},
    {"gpunvme_pattern_verify", PatternVerify},
    {"gpunvme_store32", Store32},
};

}  // namespace

Kernel FindKernel(const char* name) {
  const Kernel kernel = FindMoreKernels == nullptr ? nullptr : FindMoreKernels(name);
  if (kernel != nullptr) return kernel;
  for (const Entry& entry : kEntries) {
    if (std::strcmp(entry.name, name) == 0) return entry.kernel;
  }
  return nullptr;
}

}  // namespace standin
