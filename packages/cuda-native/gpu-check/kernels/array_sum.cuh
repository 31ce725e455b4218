// A GPU program that sums 64-bit words of a drive through a gnv::Array: pages by warp, or single words by thread.
#pragma once

#include "array.cuh"
#include "host_words.cuh"

namespace gpunvme {

// Passed by value. Addresses are the GPU's.
struct ArraySum {
  // Number of accesses by all threads together. Access n is to word n * step, modulo the size of the array.
  uint64_t accesses;
  uint64_t step;
  // 1: each warp pins the page of its word, and sums the page. 0: each thread reads one word.
  uint64_t by_warp;
  // Address of an outcome per access.
  uint64_t outcomes;
  // Address of an ArrayThread per thread.
  uint64_t threads;
};
static_assert(sizeof(ArraySum) == 8 * 5, "written by the host");

struct ArrayThread {
  // Modulo 2^64.
  uint64_t sum;
  // Times before the first access, and after the last.
  uint64_t start_ns;
  uint64_t end_ns;
};
static_assert(sizeof(ArrayThread) == 8 * 3, "read by the host");

template <class Team, class Port>
GPUNVME_DEVICE void array_sum(const gnv::BasicArray<uint64_t, Team, Port>& array, const ArraySum& run) {
  const uint64_t thread = uint64_t{Team::block()} * Team::threads() + Team::thread();
  const uint64_t threads = uint64_t{Team::blocks()} * Team::threads();
  const uint32_t lanes = run.by_warp != 0 ? Team::kLanes : 1;
  const uint64_t start_ns = Port::now_ns();
  uint64_t sum = 0;
  for (uint64_t access = thread / lanes; access < run.accesses; access += threads / lanes) {
    const uint64_t index = access * run.step % array.size();
    uint64_t outcome;
    if (run.by_warp != 0) {
      auto page = array.pin(index, Team::kAllLanes);
      outcome = page.outcome.word();
      GPUNVME_ROLLED
      for (uint32_t word = Team::lane(); word < page.count; word += Team::kLanes) sum += page.data[word];
      array.unpin(page, Team::kAllLanes);
    } else {
      uint64_t word = 0;
      outcome = array.read(index, word).word();
      sum += word;
    }
    if (run.by_warp == 0 || Team::lane() == 0) pointer_to<uint64_t>(run.outcomes)[access] = outcome;
  }
  pointer_to<ArrayThread>(run.threads)[thread] = {sum, start_ns, Port::now_ns()};
}

}  // namespace gpunvme
