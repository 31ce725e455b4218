// A leader on one thread, the model of a controller on another and the host on a third, for ThreadSanitizer and the other
// sanitizers: `race_test SEED`. Leader and host fail after too many turns without progress.
#include <sched.h>

#include <thread>

#include "race_port.h"
#include "rig.h"
#include "solo_team.cuh"

namespace model {
namespace {

uint64_t seed;

void run() {
  Layout layout;
  layout.entries = 4;
  layout.slots = 3;
  Rig rig(layout);
  bool stop = false;

  std::thread leader([&] {
    uint64_t launched = 0;
    while (!load(&stop)) {
      const uint64_t launches = load(&rig.launches);
      if (launches == launched) {
        sched_yield();
        continue;
      }
      launched = launches;
      serve<SoloTeam, RacePort>(rig.leader, launched);
    }
  });
  std::thread controller([&] {
    Random random(seed);
    while (!load(&stop)) {
      if (rig.controller.announced(rig.controller.sqs[0]) > 0 && !random.once_in(4)) {
        rig.controller.fetch(0);
      } else if (!rig.controller.outstanding.empty() && rig.controller.room() > 0) {
        rig.controller.complete(random.below(rig.controller.outstanding.size()), random.once_in(8) ? 0x0007 : 0);
      } else {
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
  rig.flag(CONTROL_STOP);
  while (!rig.has_ended()) sched_yield();
  __atomic_store_n(&stop, true, __ATOMIC_RELEASE);
  leader.join();
  controller.join();
  rig.finish();
}

}  // namespace
}  // namespace model

int main(int, char** args) {
  model::seed = strtoull(args[1], nullptr, 10);
  model::explain = [] { fprintf(stderr, "seed %llu\n", static_cast<unsigned long long>(model::seed)); };
  model::run();
}
