// `fetch_test SEED WORLD`: replays a fetch on fibers, with delayed and reordered stores. Prints the number of positions by ending.
#include "fetch_rig.h"
#include "fibers/fiber_team.h"
#include "weak_port.h"

namespace model {
namespace {

struct World {
  const char* name;
  FetchLayout layout;
  uint32_t blocks, threads;
  SharedRig::Faults faults;
  uint32_t replays = 8;
  bool may_halt = false;
};

const World kWorlds[] = {
    {"replays", {.max_read_bytes = 100, .shared = {.queues = 4, .entries = 16, .slots = 12, .drives = 2}}, 2, 128, {}},
    {"statuses", {.shared = {.queues = 4, .entries = 16, .slots = 12, .drives = 2}}, 3, 64,
     {.status_once_in = 40, .duplicate_once_in = 8}},
    {"one-warp", {.max_read_bytes = 16, .shared = {.queues = 1, .entries = 4, .slots = 2}}, 1, 32, {}},
    {"large", {.experts = 20, .positions = 64, .max_bytes = 3000, .shared = {.queues = 8, .entries = 32, .slots = 31}}, 1, 1024, {}, 2},
    {"losses", {.experts = 12, .positions = 24, .max_read_bytes = 64, .shared = {.queues = 4, .entries = 16, .slots = 12, .timeout_ns = 900'000, .drives = 2}}, 1, 256,
     {.drop_once_in = 12}, 1, true},
    // Most experts have one or two reads, and can be read by the queue that still runs.
    {"late", {.experts = 12, .positions = 24, .max_bytes = 300, .shared = {.queues = 2, .entries = 32, .slots = 24, .timeout_ns = 900'000}}, 2, 32,
     {.drop_once_in = 6, .late_once_in = 20'000}, 6, true},
};

const World* world;
SharedRig* rig;

void turn() {
  for (uint32_t i = 0; i < 4; i++) rig->turn(*WeakPort::numbers, world->faults);
}

}  // namespace
}  // namespace model

int main(int, char** args) {
  using namespace model;
  const uint64_t seed = strtoull(args[1], nullptr, 10);
  for (const World& each : kWorlds)
    if (strcmp(args[2], each.name) == 0) world = &each;
  REQUIRE(world != nullptr, "no world %s", args[2]);
  Random random_of_seed(seed);
  WeakPort::numbers = &random_of_seed;
  FetchRig all(world->layout, random_of_seed);
  rig = &all.rig;
  WeakPort::rings = [](const uint32_t* at, uint32_t value) { rig->rings(at, value); };
  std::vector<uint32_t> sums(6, 0);
  for (uint32_t replay = 0; replay < world->replays; replay++) {
    const gnv_fetch fetch = all.prepare(random_of_seed);
    FiberLaunch launch;
    launch.blocks = world->blocks;
    launch.threads = world->threads;
    launch.max_pauses = 2'000'000;
    launch.seed = seed + replay;
    launch.between = turn;
    run_fibers(launch, [&] {
      fetch_experts<FiberTeam, WeakPort>(gnv::BasicDevice<FiberTeam, WeakPort>{rig->device}, fetch);
      WeakPort::arrive();
    });
    const std::vector<uint32_t> endings = all.judge(world->may_halt);
    for (uint32_t i = 0; i < 6; i++) sums[i] += endings[i];
  }
  rig->judge_queues(world->may_halt);
  all.write_late();
  for (const uint32_t count : sums) printf("%u ", count);
  printf("\n");
}
