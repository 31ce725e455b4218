// Builds PRP entries with the device code. For each line PAGE OFFSET BYTES SHIFT SLOT of stdin, prints PRP1, PRP2, and
// the written words of the lists with their indexes. For the controller, run i of the memory is at kMemory +
// (scattered(i) << SHIFT), and page i of the lists at kLists + scattered(i) * PAGE, as in prp.test.ts.
#include <stdio.h>
#include <string.h>

#include <vector>

#include "prp.cuh"

namespace {

struct Port {
  static void store64(uint64_t* at, uint64_t value) { *at = value; }
};

constexpr uint64_t kMemory = 0x100000000, kLists = 0x80000000, kRuns = 4096, kListPages = 4;
uint64_t scattered(uint64_t index) { return index * 1021 % 4096; }

}  // namespace

int main() {
  using namespace gpunvme;
  unsigned long long page, offset, bytes, shift, slot;
  while (scanf("%llu %llu %llu %llu %llu", &page, &offset, &bytes, &shift, &slot) == 5) {
    std::vector<uint64_t> runs, list_runs, lists(kListPages * 2 * page / 8, 0xa5a5a5a5a5a5a5a5);
    if (shift == 63) runs = {kMemory + 0x200};
    else for (uint64_t run = 0; run < kRuns; run++) runs.push_back(kMemory + (scattered(run) << shift));
    for (uint64_t at = 0; at < kListPages * 2; at++) list_runs.push_back(kLists + scattered(at) * page);
    gnv_queue queue{};
    queue.page_bytes = static_cast<uint32_t>(page);
    queue.prp_list_bytes = static_cast<uint32_t>(kListPages * page);
    queue.prp_lists = lists.data();
    queue.prp_list_runs = {list_runs.data(), static_cast<uint64_t>(__builtin_ctzll(page))};
    const Prps prps = lay_prps<Port>(queue, {runs.data(), shift}, offset, bytes, static_cast<uint32_t>(slot));
    printf("%llx %llx", static_cast<unsigned long long>(prps.prp1), static_cast<unsigned long long>(prps.prp2));
    for (size_t at = 0; at < lists.size(); at++)
      if (lists[at] != 0xa5a5a5a5a5a5a5a5) printf(" %zu:%llx", at, static_cast<unsigned long long>(lists[at]));
    printf("\n");
  }
}
