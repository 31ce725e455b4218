// Tests of the team of fibers itself: `fiber_team_test CASE SEED`.
#include "fiber_team.h"

#include <string>

using gpunvme::FiberLaunch;
using gpunvme::run_fibers;
using Team = gpunvme::FiberTeam;

int main(int, char** args) {
  const std::string name = args[1];
  FiberLaunch launch;
  launch.threads = 64;
  launch.seed = strtoull(args[2], nullptr, 10);

  if (name == "order") {
    run_fibers(launch, [] { printf("%u ", Team::thread()); });
  } else if (name == "collectives") {
    launch.blocks = 3;
    run_fibers(launch, [] {
      const uint32_t odd = Team::ballot(Team::kAllLanes, Team::lane() % 2 == 1);
      const uint32_t half = Team::lane() < 16 ? 0x0000ffff : 0xffff0000;
      const uint32_t thirds = Team::ballot(half, Team::lane() % 3 == 0);
      const uint64_t from5 = Team::shuffle(Team::kAllLanes, uint64_t{1} << 40 | Team::thread(), 5);
      const uint32_t across = Team::shuffle_xor(Team::kAllLanes, Team::thread(), 16);
      Team::sync_block();
      if (Team::thread() == 33)
        printf("%u of %u: %08x %08x %llx %u\n", Team::block(), Team::blocks(), odd, thirds,
               static_cast<unsigned long long>(from5), across);
    });
  } else if (name == "shared") {
    run_fibers(launch, [] {
      auto& shared = Team::shared<std::array<uint32_t, 64>>();
      if (shared[Team::thread()] != 0xa5a5a5a5) printf("not poisoned\n");
      shared[Team::thread()] = Team::thread();
      Team::sync_block();
      if (shared[63 - Team::thread()] != 63 - Team::thread()) printf("not shared\n");
    });
  } else if (name == "pause") {
    int turns = 0;
    launch.between = [&] { turns++; };
    run_fibers(launch, [&] {
      while (turns < 100) gpunvme::FiberBlock::now().pause();
    });
    printf("%d\n", turns);
  } else if (name == "foreign") {
    run_fibers(launch, [] { Team::ballot(0x0000ffff, true); });
  } else if (name == "divergent") {
    run_fibers(launch, [] {
      if (Team::lane() != 7) Team::sync_warp(Team::kAllLanes);
    });
  } else if (name == "masks") {
    run_fibers(launch, [] { Team::sync_warp(Team::lane() == 3 ? 0xffffffff : 0x7fffffff | 1u << Team::lane()); });
  } else if (name == "block") {
    run_fibers(launch, [] {
      if (Team::thread() < 32) Team::sync_block();
    });
  } else if (name == "source") {
    run_fibers(launch, [] {
      if (Team::lane() < 8) Team::shuffle(0xff, Team::lane(), 8);
    });
  } else if (name == "forever") {
    run_fibers(launch, [] {
      while (true) gpunvme::FiberBlock::now().pause();
    });
  } else {
    return 1;
  }
  return 0;
}
