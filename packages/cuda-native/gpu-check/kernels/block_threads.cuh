// A GPU program of many threads, each of which reads one block: individually, or together with the lanes of its warp.
#pragma once

#include "host_words.cuh"

namespace gpunvme {

// Words that the host writes. Addresses are the GPU's.
struct BlockThreads {
  gnv_device device;
  // Thread n reads block n into the n-th block of the buffer.
  gnv_buffer buffer;
  // 1: the lanes of a warp pass their common mask. 0: every thread acts alone.
  uint64_t by_warp;
  // An outcome per thread.
  uint64_t outcomes;
  // Two times per thread: before its submission, and when its outcome was known.
  uint64_t times;
  // The block that each thread saw.
  uint64_t kept;
};
static_assert(sizeof(BlockThreads) == 8 * 12, "written by the host");

template <class Team, class Port>
GPUNVME_DEVICE void block_threads(const BlockThreads& run) {
  using Device = gnv::BasicDevice<Team, Port>;
  const Device device{run.device};
  const uint64_t thread = static_cast<uint64_t>(Team::block()) * Team::threads() + Team::thread();
  const uint32_t mask = run.by_warp != 0 ? Team::kAllLanes : Device::alone();
  const uint64_t block_bytes = 1ULL << device.drives[0].block_shift;
  const uint64_t words = block_bytes / 8;
  const uint64_t* const data = static_cast<const uint64_t*>(run.buffer.data) + thread * words;
  uint64_t* const kept = pointer_to<uint64_t>(run.kept) + thread * words;
  const auto keep = [&] {
    GPUNVME_ROLLED
    for (uint64_t word = 0; word < words; word++) kept[word] = data[word];
  };
  // The old bytes are in the thread's cache when the read is submitted: `wait` must make the new ones visible.
  keep();
  uint64_t* const times = pointer_to<uint64_t>(run.times) + 2 * thread;
  times[0] = Port::now_ns();
  const gnv::Outcome outcome = device.wait(device.read(0, thread, 1, run.buffer, thread * block_bytes, mask), mask);
  times[1] = Port::now_ns();
  pointer_to<uint64_t>(run.outcomes)[thread] = outcome.word();
  if (outcome.ok()) keep();
}

}  // namespace gpunvme
