// `checksum_test CASE...` with cases of colon-separated numbers, and data on stdin. Prints the checksums of each case.
//
//   threads:blocks:seed:from:bytes:chunk_bytes:alignment            0 threads: a team of one
//   ... :first_index:crc,crc,...                                     prints mismatches and the first one instead
#include "checksum.cuh"

#include <string.h>

#include <sstream>
#include <string>

#include "fibers/fiber_team.h"
#include "solo_team.cuh"

using namespace gpunvme;

static void launch(uint32_t threads, uint32_t blocks, uint64_t seed, const ChecksumJob& job) {
  if (threads > 0) {
    FiberLaunch fibers;
    fibers.blocks = blocks;
    fibers.threads = threads;
    fibers.seed = seed;
    return run_fibers(fibers, [&] { checksum<FiberTeam>(job); });
  }
  run_solo(blocks, [&] { checksum<SoloTeam>(job); });
}

int main(int count, char** args) {
  std::string data;
  for (char piece[65536]; size_t bytes = fread(piece, 1, sizeof piece, stdin);) data.append(piece, bytes);

  for (int i = 1; i < count; i++) {
    std::istringstream text(args[i]);
    const auto next = [&] {
      uint64_t value = 0;
      text >> value;
      text.get();
      return value;
    };
    const uint64_t threads = next(), blocks = next(), seed = next();
    const uint64_t from = next(), bytes = next(), chunk_bytes = next(), alignment = next();
    // The exact size, so that AddressSanitizer detects a read past the end. A read before the start changes the
    // checksum.
    std::vector<uint8_t> memory(alignment + bytes, static_cast<uint8_t>(i));
    memory.shrink_to_fit();
    std::copy_n(data.begin() + static_cast<ptrdiff_t>(from), bytes, memory.begin() + static_cast<ptrdiff_t>(alignment));
    ChecksumJob job = {memory.data() + alignment, bytes, chunk_bytes, nullptr, nullptr, nullptr, 0};

    if (text) {
      job.first_index = next();
      std::vector<uint32_t> expected;
      while (text) expected.push_back(static_cast<uint32_t>(next()));
      ChecksumVerdict verdict = {0, 0xffffffff};
      job.expected = expected.data();
      job.verdict = &verdict;
      launch(threads, blocks, seed, job);
      printf("%u %u\n", verdict.mismatches, verdict.first_mismatch);
    } else {
      std::vector<uint32_t> results((bytes + chunk_bytes - 1) / chunk_bytes, 0xa5a5a5a5);
      job.results = results.data();
      launch(threads, blocks, seed, job);
      for (const uint32_t crc : results) printf("%08x ", crc);
      printf("\n");
    }
  }
}
