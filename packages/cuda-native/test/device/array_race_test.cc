// `array_race_test SEED`: threads of the CPU share the cache of a gnv::Array, with a controller on a thread of its own, for
// ThreadSanitizer and the other sanitizers.
#include <thread>

#include "array_rig.h"
#include "race_port.h"
#include "solo_team.cuh"

namespace model {
namespace {

using Array = gnv::BasicArray<uint64_t, SoloTeam, RacePort>;

constexpr uint32_t kThreads = 5;

uint64_t seed;

void run(const ArrayLayout& layout, uint32_t pages, uint32_t rounds, const ArrayRig::Faults& faults, bool may_fail) {
  ArrayRig rig(layout);
  bool stop = false;
  std::thread controller([&] {
    Random own(seed + 1);
    while (!load(&stop))
      if (!rig.turn(own, faults)) sched_yield();
  });
  std::vector<std::thread> threads;
  for (uint32_t thread = 0; thread < kThreads; thread++) {
    threads.emplace_back([&, thread] {
      SoloTeam::place() = {thread, kThreads};
      const Array array{rig.array};
      Random own(seed * 100 + thread);
      const auto require = [&](uint64_t index, uint64_t value) {
        REQUIRE(value == ArrayRig::content(index), "index %llu has the value %llx", ull(index), ull(value));
      };
      for (uint32_t round = 0; round < rounds; round++) {
        const uint64_t page = uint64_t{own.below(2)} << 32 | own.below(pages / 2);
        const uint64_t index = page * ArrayRig::kInPage + own.below(ArrayRig::kInPage);
        if (own.once_in(4)) {
          Array::Page pinned = array.pin(index);
          REQUIRE(may_fail || pinned.ok(), "pin ended with %u", pinned.outcome.ending());
          for (uint32_t i = 0; pinned.ok() && i < pinned.count; i++) require(pinned.first + i, pinned.data[i]);
          array.unpin(pinned);
        } else {
          uint64_t value = 0;
          const gnv::Outcome outcome = array.read(index, value);
          REQUIRE(may_fail || outcome.ok(), "read ended with %u", outcome.ending());
          if (outcome.ok()) require(index, value);
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  __atomic_store_n(&stop, true, __ATOMIC_RELEASE);
  controller.join();
  const gnv_page_set sum = rig.finish();
  REQUIRE(may_fail || (sum.hits > 0 && sum.misses > 0 && sum.evictions > 0), "the cache was not used");
}

}  // namespace
}  // namespace model

int main(int, char** args) {
  using namespace model;
  seed = strtoull(args[1], nullptr, 10);
  explain = [] { fprintf(stderr, "seed %llu\n", ull(seed)); };
  run({.set_shift = 1, .ways = 4}, 12, 400, {}, false);
  run({.ways = 1}, 2, 100, {}, false);
  run({.set_shift = 1, .ways = 3}, 8, 300, {.status_once_in = 4}, true);
  // A time limit that some commands exceed, others not: real time.
  run({.set_shift = 1, .ways = 16, .queues = 8, .timeout_ns = 20'000'000}, 64, 200, {.drop_once_in = 100}, true);
}
