// `scatter_test pieces SEED [ROUNDS]` compares copies of random pieces with memcpy. `scatter_test shares` prints the
// number of bytes that each of 8 blocks writes of one large piece and many small ones. `scatter_test none` copies no
// pieces.
#include "scatter.cuh"

#include <string>

#include "fibers/fiber_team.h"
#include "solo_team.cuh"

using namespace gpunvme;
using Bytes = std::vector<uint8_t>;

static std::mt19937_64 numbers;
static uint64_t below(uint64_t limit) { return numbers() % limit; }

struct Work {
  std::vector<ScatterEntry> entries;
  Bytes source, destination;

  void add(uint64_t source_offset, uint64_t destination_offset, uint64_t bytes) {
    const uint64_t before = entries.empty() ? 0 : entries.back().before + entries.back().bytes;
    entries.push_back({source_offset, destination_offset, bytes, before});
  }
  ScatterJob job() { return {source.data(), destination.data(), entries.data(), entries.size()}; }
};

// Draws pieces of any length in any order, with and without gaps, up to the last byte of source and destination.
static Work some_pieces() {
  Work work;
  std::vector<uint64_t> lengths;
  for (uint64_t i = 1 + below(40); i-- > 0;) {
    const uint64_t limits[] = {1, 20, 70, 600, 40'000, 100'000};
    lengths.push_back(below(limits[below(6)]));
  }
  uint64_t at = 0;
  std::vector<uint64_t> places;
  for (const uint64_t bytes : lengths) {
    at += below(2) * below(40);
    places.push_back(at);
    at += bytes;
  }
  work.destination.assign(at, 0xa5);
  uint64_t longest = 1;
  for (const uint64_t bytes : lengths) longest = std::max(longest, bytes);
  work.source.resize(longest + below(64));
  for (uint8_t& byte : work.source) byte = static_cast<uint8_t>(numbers());

  std::vector<size_t> order(lengths.size());
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), numbers);
  for (const size_t i : order) work.add(below(work.source.size() - lengths[i] + 1), places[i], lengths[i]);
  work.source.shrink_to_fit();
  work.destination.shrink_to_fit();
  return work;
}

static bool pieces(uint64_t seed) {
  numbers.seed(seed);
  Work work = some_pieces();
  Bytes expected = work.destination;
  for (const ScatterEntry& entry : work.entries)
    if (entry.bytes > 0)
      memcpy(&expected[entry.destination_offset], &work.source[entry.source_offset], entry.bytes);

  if (below(4) == 0) {
    run_solo(static_cast<uint32_t>(1 + below(3)), [&] { scatter<SoloTeam>(work.job()); });
  } else {
    FiberLaunch launch;
    launch.blocks = static_cast<uint32_t>(1 + below(5));
    launch.threads = static_cast<uint32_t>(32 * (1 + below(3)));
    launch.seed = seed;
    run_fibers(launch, [&] { scatter<FiberTeam>(work.job()); });
  }
  for (size_t i = 0; i < expected.size(); i++)
    if (work.destination[i] != expected[i]) {
      printf("seed %llu: byte %zu of %zu is %02x, not %02x\n", static_cast<unsigned long long>(seed), i, expected.size(),
             work.destination[i], expected[i]);
      return false;
    }
  return true;
}

static void shares() {
  Work work;
  const uint64_t large = 4 << 20;
  work.source.assign(large, 1);
  work.destination.assign(large + 20'000, 0);
  for (uint64_t i = 0; i < 100; i++) work.add(i, large + i * 200 + 1, 100 + i % 7);
  work.add(3, 0, large - 5);
  uint64_t before = 0;
  for (uint32_t block = 0; block < 8; block++) {
    FiberLaunch launch;
    launch.blocks = 8;
    launch.threads = 64;
    const std::function<void()> kernel = [&] { scatter<FiberTeam>(work.job()); };
    std::make_unique<FiberBlock>(launch, block, kernel)->run();
    const uint64_t written = static_cast<uint64_t>(std::count(work.destination.begin(), work.destination.end(), 1));
    printf("%llu\n", static_cast<unsigned long long>(written - before));
    before = written;
  }
}

int main(int count, char** args) {
  const std::string name = args[1];
  if (name == "shares") shares();
  if (name == "none") run_fibers({}, [] { scatter<FiberTeam>({nullptr, nullptr, nullptr, 0}); });
  if (name != "pieces") return 0;
  const uint64_t first = strtoull(args[2], nullptr, 10);
  const uint64_t rounds = count > 3 ? strtoull(args[3], nullptr, 10) : 1;
  for (uint64_t seed = first; seed < first + rounds; seed++)
    if (!pieces(seed)) return 1;
  printf("%llu rounds\n", static_cast<unsigned long long>(rounds));
}
