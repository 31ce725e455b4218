// `fetch_race_test SEED`: threads of the CPU as the blocks of a fetch, a controller on a thread of its own, and a thread that
// uses the data as soon as a result is stored. For ThreadSanitizer and the other sanitizers.
#include <thread>

#include "fetch_rig.h"
#include "race_port.h"
#include "solo_team.cuh"

namespace model {
namespace {

constexpr uint32_t kBlocks = 4;

// Compares the data of each position that has a new result.
void consume(const FetchRig& rig, std::vector<bool>& seen) {
  for (uint32_t at = 0; at < rig.layout.positions; at++) {
    if (seen[at]) continue;
    const uint32_t ending = RacePort::load_acquire32_gpu(&rig.results[at].ending);
    if (ending == GNV_FETCH_PENDING) continue;
    seen[at] = true;
    if (ending == GNV_FETCH_VERIFIED) rig.compare(at);
  }
}

void run(uint64_t seed, const FetchLayout& layout, const SharedRig::Faults& faults, bool may_halt) {
  Random random(seed);
  FetchRig rig(layout, random);
  // A read that timed out may still write to its destination during the next fetch.
  const uint32_t replays = may_halt ? 1 : 3;
  for (uint32_t replay = 0; replay < replays; replay++) {
    const gnv_fetch fetch = rig.prepare(random);
    bool stop = false;
    std::thread controller([&] {
      Random own(seed + 1);
      while (!load(&stop))
        if (!rig.rig.turn(own, faults)) sched_yield();
    });
    std::thread consumer([&] {
      std::vector<bool> seen(layout.positions, false);
      while (!load(&stop)) consume(rig, seen);
      consume(rig, seen);
    });
    std::vector<std::thread> threads;
    for (uint32_t block = 0; block < kBlocks; block++) {
      threads.emplace_back([&, block] {
        SoloTeam::place() = {block, kBlocks};
        fetch_experts<SoloTeam, RacePort>(gnv::BasicDevice<SoloTeam, RacePort>{rig.rig.device}, fetch);
      });
    }
    for (std::thread& thread : threads) thread.join();
    __atomic_store_n(&stop, true, __ATOMIC_RELEASE);
    controller.join();
    consumer.join();
    rig.judge(may_halt);
  }
  rig.rig.judge_queues(may_halt);
}

}  // namespace
}  // namespace model

int main(int, char** args) {
  using namespace model;
  const uint64_t seed = strtoull(args[1], nullptr, 10);
  const SharedLayout drives = {.queues = 4, .entries = 8, .slots = 7, .drives = 2};
  run(seed, {.max_read_bytes = 100, .shared = drives}, {.status_once_in = 60}, false);
  run(seed, {.shared = {.queues = 1, .entries = 4, .slots = 2}}, {.duplicate_once_in = 7}, false);
  // A time limit that some reads exceed, others not: real time.
  SharedLayout limited = drives;
  limited.timeout_ns = 20'000'000;
  run(seed, {.max_read_bytes = 64, .shared = limited}, {.drop_once_in = 60}, true);
}
