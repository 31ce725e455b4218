// Leaders of one grid, a controller for each, and a host, as fibers of one thread: `grid_test FIRST
// COUNT` for as many seeds. Prints the number of launches.
#include "fibers/fiber_team.h"
#include "hook_port.h"
#include "rig.h"

namespace model {
namespace {

constexpr uint32_t kLeaders = 3, kHost = 31;
constexpr uint32_t kRead = GPUNVME_NVM_OPCODE_READ;

class World {
 public:
  World(uint64_t seed, uint64_t linger_ns) : random(seed), seed_(seed) {
    Layout layout;
    layout.linger_ns = linger_ns;
    layout.memory_bytes = 1 << 14;
    for (uint32_t leader = 0; leader < kLeaders; leader++) {
      rigs.push_back(std::make_unique<Rig>(layout));
      rigs.back()->leader.grid = &grid_;
    }
    HookPort::random = &random;
    HookPort::between = [] { gpunvme::FiberBlock::now().maybe_pause(); };
    HookPort::rings = [this](uint32_t* at, uint32_t value) {
      for (const auto& rig : rigs)
        if (at == &rig->head_doorbell || at == &rig->queues[0]->tail_doorbell) rig->rung(at, value);
    };
  }

  // Runs the leaders whenever `host` launches them, until it returns.
  void run(const std::function<void()>& host) {
    gpunvme::FiberLaunch fibers;
    fibers.seed = seed_;
    fibers.max_pauses = 5'000'000;
    gpunvme::run_fibers(fibers, [&] {
      const uint32_t lane = gpunvme::FiberTeam::lane();
      if (lane < kLeaders) lead(*rigs[lane]);
      if (lane != kHost) return;
      host();
      over_ = true;
    });
    for (const auto& rig : rigs) {
      REQUIRE(rig->look(), "a plan is not done");
      rig->finish();
    }
  }

  void turn() { gpunvme::FiberBlock::now().pause(); }
  template <class Condition>
  bool all(Condition condition) const {
    return std::all_of(rigs.begin(), rigs.end(), condition);
  }
  bool have_ended() const {
    return all([](const auto& rig) { return rig->has_ended(); });
  }
  void launch() {
    REQUIRE(have_ended(), "a launch before the last one has ended");
    for (const auto& rig : rigs) rig->launches++;
  }
  void answer(Rig& rig) {
    Controller& controller = rig.controller;
    if (controller.announced(controller.sqs[0]) > 0) controller.fetch(0);
    else if (!controller.outstanding.empty() && controller.room() > 0) controller.complete(random.below(controller.outstanding.size()));
  }

  std::vector<std::unique_ptr<Rig>> rigs;
  Random random;

 private:
  void lead(Rig& rig) {
    for (uint64_t launched = 0; !over_; turn()) {
      if (rig.launches == launched) continue;
      launched = rig.launches;
      rig.serve_once<HookPort>();
    }
  }

  const uint64_t seed_;
  Grid grid_{kLeaders, 0};
  bool over_ = false;
};

// While a leader has a command in flight, idle ones serve plans in the same launch. Then all end. Twice.
void idle_leaders_stay(uint64_t seed) {
  World world(seed, 5);
  Rig& busy = *world.rigs[0];
  Rig& other = *world.rigs[1];
  const auto once = [&] {
    busy.post(0, kRead, {1});
    world.launch();
    while (busy.controller.announced(busy.controller.sqs[0]) == 0) world.turn();
    busy.controller.fetch(0);
    for (uint32_t plan = 0; plan < 4; plan++) {
      for (uint32_t turns = 0; turns < 300; turns++) world.turn();
      other.post(0, kRead, {1, 1});
      while (!other.look()) {
        world.answer(other);
        world.turn();
      }
    }
    REQUIRE(!other.has_ended(), "an idle leader ended while another was busy");
    busy.controller.complete(0);
    while (!world.have_ended()) world.turn();
  };
  world.run([&] {
    once();
    once();
  });
}

// Plans at any time: each is served, by this launch or the next one, and every launch ends.
uint64_t plans_at_any_time(uint64_t seed) {
  World world(seed, seed % 3 * 20);
  const uint32_t rarity = seed % 2 == 0 ? 12 : 600;
  world.run([&] {
    uint32_t to_post = 40;
    while (true) {
      const bool done = world.all([](const auto& rig) { return rig->look(); });
      if (to_post == 0 && done && world.have_ended()) break;
      Rig& rig = *world.rigs[world.random.below(kLeaders)];
      world.answer(rig);
      if (to_post > 0 && rig.has_room(0) && world.random.once_in(rarity)) {
        rig.post(0, kRead, std::vector<uint32_t>(1 + world.random.below(5), 1));
        to_post--;
      }
      // As Session::StartIdle.
      if (world.have_ended() && !world.all([](const auto& each) { return !each->has_work(); })) world.launch();
      world.turn();
    }
  });
  return world.rigs[0]->launches;
}

// A leader that a pause ended does not keep the others from ending.
void paused_alone(uint64_t seed) {
  World world(seed, 5);
  world.run([&] {
    world.launch();
    world.rigs[2]->flag(CONTROL_PAUSE);
    while (!world.have_ended()) world.turn();
  });
}

}  // namespace
}  // namespace model

int main(int, char** args) {
  static uint64_t seed = strtoull(args[1], nullptr, 10);
  const uint64_t end = seed + strtoull(args[2], nullptr, 10);
  model::explain = [] { fprintf(stderr, "seed %llu\n", static_cast<unsigned long long>(seed)); };
  uint64_t launches = 0;
  for (; seed < end; seed++) {
    model::idle_leaders_stay(seed);
    model::paused_alone(seed);
    launches += model::plans_at_any_time(seed);
  }
  printf("%llu\n", static_cast<unsigned long long>(launches));
}
