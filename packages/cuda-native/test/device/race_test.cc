// A leader on one thread, or on one per lane of its warp, the model of a controller and the host on others, for ThreadSanitizer
// and the other sanitizers: `race_test SEED thread|warp`. Leader and host fail after too many turns without progress.
#include <sched.h>

#include <thread>

#include "lane_team.h"
#include "race_port.h"
#include "rig.h"
#include "solo_team.cuh"

namespace model {
namespace {

uint64_t seed;

// Serves each launch, as the only thread or as one lane of the leader.
template <class Team>
void lead(Rig& rig, const bool& stop) {
  for (uint64_t launched = 0; !load(&stop);) {
    const uint64_t launches = load(&rig.launches);
    if (launches == launched) {
      sched_yield();
      continue;
    }
    launched = launches;
    serve<Team, RacePort>(rig.leader, launched);
  }
}

template <class Lead>
void run(uint32_t lanes, const Lead& lead) {
  Layout layout;
  layout.entries = 4 * lanes;
  layout.slots = 4 * lanes - 1;
  Rig rig(layout);
  bool stop = false, is_silent = false;
  // SQ head of the controller, once it only fetches.
  uint32_t silent_head = layout.entries;

  std::vector<std::thread> leader;
  for (uint32_t lane = 0; lane < lanes; lane++) leader.emplace_back([&, lane] { lead(rig, stop, lane); });
  std::thread controller([&] {
    Random random(seed);
    while (!load(&stop)) {
      if (rig.controller.announced(rig.controller.sqs[0]) > 0 && !random.once_in(4)) {
        rig.controller.fetch(0);
      } else if (!load(&is_silent) && !rig.controller.outstanding.empty() && rig.controller.room() > 0) {
        rig.controller.complete(random.below(rig.controller.outstanding.size()), random.once_in(8) ? 0x0007 : 0);
      } else {
        if (load(&is_silent)) __atomic_store_n(&silent_head, rig.controller.sqs[0].head, __ATOMIC_RELEASE);
        sched_yield();
      }
    }
  });

  // This thread checks all data and outcomes. It shares no lock with the controller's thread.
  Random random(seed + 1);
  uint64_t turns = 0;
  for (uint32_t posted = 0; posted < 150 || !rig.look();) {
    REQUIRE(++turns < RacePort::kPatience, "no outcomes after %llu turns", ull(turns));
    if (posted < 150 && rig.has_room() && !random.once_in(4)) {
      std::vector<uint32_t> blocks(1 + random.below(5));
      for (uint32_t& each : blocks) each = 1 + random.below(20);
      rig.post(random.once_in(2) ? GPUNVME_NVM_OPCODE_READ : GPUNVME_NVM_OPCODE_WRITE, blocks, NO_DEADLINE / 2);
      if (random.once_in(6)) rig.cancel(random.below(rig.plans.size()));
      posted++;
    } else {
      rig.look();
      sched_yield();
    }
    if (rig.has_ended() && rig.has_work()) __atomic_store_n(&rig.launches, rig.launches + 1, __ATOMIC_RELEASE);
  }
  // As many commands as there are slots are not answered, and end when the controller is lost.
  __atomic_store_n(&is_silent, true, __ATOMIC_RELEASE);
  rig.may_be_lost = rig.may_halt = true;
  const uint32_t tail = (load(&rig.queue.tail_doorbell) + layout.slots) % layout.entries;
  rig.post(GPUNVME_NVM_OPCODE_READ, std::vector<uint32_t>(2 * layout.entries, 1), NO_DEADLINE / 2);
  while (load(&rig.queue.tail_doorbell) != tail || load(&silent_head) != tail) {
    REQUIRE(++turns < RacePort::kPatience, "the last plan is not served");
    if (rig.has_ended()) __atomic_store_n(&rig.launches, rig.launches + 1, __ATOMIC_RELEASE);
    sched_yield();
  }
  rig.flag(CONTROL_HALT | CONTROL_LOST | CONTROL_STOP);
  while (!rig.look() || !rig.has_ended()) {
    REQUIRE(++turns < RacePort::kPatience, "the last plan does not end");
    sched_yield();
  }
  __atomic_store_n(&stop, true, __ATOMIC_RELEASE);
  for (std::thread& each : leader) each.join();
  controller.join();
  rig.finish();
}

}  // namespace
}  // namespace model

int main(int, char** args) {
  using namespace model;
  seed = strtoull(args[1], nullptr, 10);
  explain = [] { fprintf(stderr, "seed %llu\n", ull(seed)); };
  if (strcmp(args[2], "thread") == 0) return run(1, [](Rig& rig, const bool& stop, uint32_t) { lead<SoloTeam>(rig, stop); }), 0;
  run(LaneTeam::kLanes, [](Rig& rig, const bool& stop, uint32_t lane) {
    LaneTeam::enter(lane);
    lead<LaneTeam>(rig, stop);
  });
}
