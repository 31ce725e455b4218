// `pattern_test CASE...` with cases `threads:blocks:seed:offset:bytes:alignment:wrong,wrong,...`: fills memory,
// corrupts the bytes at the offsets `wrong`, and verifies. Prints the filled memory, the number of wrong bytes, and the
// first of them.
#include "pattern.cuh"

#include <sstream>

#include "fibers/fiber_team.h"
#include "solo_team.cuh"

using namespace gpunvme;

int main(int count, char** args) {
  for (int i = 1; i < count; i++) {
    std::istringstream text(args[i]);
    const auto next = [&] {
      uint64_t value = 0;
      text >> value;
      text.get();
      return value;
    };
    FiberLaunch launch;
    launch.threads = static_cast<uint32_t>(next());
    launch.blocks = static_cast<uint32_t>(next());
    PatternJob job = {};
    job.seed = next();
    job.offset = next();
    job.bytes = next();
    const uint64_t alignment = next();
    launch.seed = alignment;
    std::vector<uint64_t> wrong;
    while (text) wrong.push_back(next());

    std::vector<uint8_t> memory(alignment + job.bytes + 1, 0xa5);
    job.data = memory.data() + alignment;
    PatternVerdict verdict = {0, ~0ull};
    const auto run = [&](auto fibers, auto solo) {
      if (launch.threads > 0) run_fibers(launch, fibers);
      else run_solo(launch.blocks, solo);
    };
    run([&] { pattern_fill<FiberTeam>(job); }, [&] { pattern_fill<SoloTeam>(job); });
    for (const uint8_t byte : memory) printf("%02x", byte);
    for (const uint64_t offset : wrong) job.data[offset] ^= static_cast<uint8_t>(1 << offset % 8);
    run([&] { pattern_verify<FiberTeam>(job, &verdict); }, [&] { pattern_verify<SoloTeam>(job, &verdict); });
    printf(" %llu %llu\n", static_cast<unsigned long long>(verdict.wrong_bytes),
           static_cast<unsigned long long>(verdict.first_wrong_offset));
  }
}
