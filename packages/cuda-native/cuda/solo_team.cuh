// One CPU thread as a block with one lane, to run kernels for teams without a GPU. For g++: no kernel includes it.
#pragma once

#include "target.cuh"

namespace gpunvme {

// A team, see warp.cuh. Blocks may run on several threads at once.
struct SoloTeam {
  static constexpr uint32_t kLanes = 1;
  static constexpr uint32_t kAllLanes = 1;

  // Index of the block that this thread runs, and number of blocks.
  struct Place {
    uint32_t block = 0;
    uint32_t blocks = 1;
  };
  static Place& place() {
    thread_local Place place;
    return place;
  }

  static uint32_t block() { return place().block; }
  static uint32_t blocks() { return place().blocks; }
  static uint32_t thread() { return 0; }
  static uint32_t threads() { return 1; }
  static uint32_t lane() { return 0; }

  static uint32_t ballot(uint32_t, bool value) { return value ? 1 : 0; }
  static uint32_t shuffle(uint32_t, uint32_t value, uint32_t) { return value; }
  static uint64_t shuffle(uint32_t, uint64_t value, uint32_t) { return value; }
  static uint32_t shuffle_xor(uint32_t, uint32_t value, uint32_t) { return value; }
  static uint64_t shuffle_xor(uint32_t, uint64_t value, uint32_t) { return value; }
  static uint32_t match(uint32_t, uint32_t) { return 1; }
  static void sync_warp(uint32_t) {}
  static void sync_block() {}

  template <class T>
  static T& shared() {
    thread_local T memory;
    return memory;
  }

  template <class Word>
  static void atomic_add(Word* at, Word value) {
    __atomic_fetch_add(at, value, __ATOMIC_RELAXED);
  }
  template <class Word>
  static void atomic_min(Word* at, Word value) {
    Word seen = __atomic_load_n(at, __ATOMIC_RELAXED);
    while (value < seen && !__atomic_compare_exchange_n(at, &seen, value, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
    }
  }
};

// Runs the blocks of a kernel one after another: `run_solo(4, [&] { checksum<SoloTeam>(job); })`.
template <class Kernel>
void run_solo(uint32_t blocks, const Kernel& kernel) {
  for (uint32_t block = 0; block < blocks; block++) {
    SoloTeam::place() = {block, blocks};
    kernel();
  }
}

}  // namespace gpunvme
