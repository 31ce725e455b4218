// Leaders of one grid as warps, a controller for each, and a host, as fibers with weakly ordered memory. `grid_test FIRST COUNT`
// runs COUNT seeds from FIRST; with `plans`, only `plans_at_any_time`. Prints the number of commands and launches of the latter.
#include "rig.h"
#include "weak_port.h"

namespace model {
namespace {

constexpr uint32_t kLeaders = 3, kHost = kLeaders * 32;
constexpr uint32_t kRead = GPUNVME_NVM_OPCODE_READ, kWrite = GPUNVME_NVM_OPCODE_WRITE;

class World {
 public:
  World(uint64_t seed, const Layout& layout) : random(seed), seed_(seed) {
    for (uint32_t leader = 0; leader < kLeaders; leader++) {
      rigs.push_back(std::make_unique<Rig>(layout));
      rigs.back()->leader.grid = &grid_;
    }
    WeakPort::numbers = &random;
    now_ = this;
    WeakPort::rings = [](const uint32_t* at, uint32_t value) {
      for (const auto& rig : now_->rigs)
        if (at == &rig->queue.head_doorbell || at == &rig->queue.tail_doorbell) rig->rung(at, value);
    };
  }

  // Runs the leaders whenever `host` launches them, until it returns.
  void run(const std::function<void()>& host) {
    FiberLaunch fibers;
    fibers.threads = kHost + 32;
    fibers.seed = seed_;
    fibers.max_pauses = 20'000'000;
    run_fibers(fibers, [&] {
      const uint32_t warp = FiberTeam::thread() / 32;
      if (warp < kLeaders) lead(*rigs[warp]);
      if (FiberTeam::thread() != kHost) return;
      host();
      over_ = true;
    });
    for (const auto& rig : rigs) {
      REQUIRE(rig->look(), "a plan is not done");
      rig->ended();
      rig->finish();
    }
  }

  void turn() { FiberBlock::now().pause(); }
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
  // A step of the controller of a queue.
  void answer(Rig& rig, uint32_t status_once_in = 0) {
    Controller& controller = rig.controller;
    if (controller.announced(controller.sqs[0]) > 0 && !random.once_in(4)) return controller.fetch(0);
    if (controller.outstanding.empty() || controller.room() == 0) return;
    const size_t at = random.below(controller.outstanding.size());
    if (controller.outstanding[at].dropped) return;
    controller.complete(at, status_once_in > 0 && random.once_in(status_once_in) ? 0x0281 : 0);
  }
  uint64_t commands() const {
    uint64_t sum = 0;
    for (const auto& rig : rigs) sum += rig->report.commands;
    return sum;
  }

  std::vector<std::unique_ptr<Rig>> rigs;
  Random random;

 private:
  void lead(Rig& rig) {
    for (uint64_t launched = 0; !over_; turn()) {
      if (rig.launches == launched) continue;
      launched = rig.launches;
      serve<WeakTeam, WeakPort>(rig.leader, launched);
      WeakPort::arrive();
    }
  }

  static inline World* now_ = nullptr;
  const uint64_t seed_;
  Grid grid_{kLeaders, 0};
  bool over_ = false;
};

Layout layout_of(uint64_t linger_ns) {
  Layout layout;
  layout.linger_ns = linger_ns;
  layout.memory_bytes = 1 << 14;
  return layout;
}

// While a leader has a command in flight, idle leaders serve plans in the same launch. Then all end. Runs twice.
void idle_leaders_stay(uint64_t seed) {
  World world(seed, layout_of(5));
  Rig& busy = *world.rigs[0];
  Rig& other = *world.rigs[1];
  const auto once = [&] {
    busy.post(kRead, {1}, NO_DEADLINE / 2);
    world.launch();
    while (busy.controller.announced(busy.controller.sqs[0]) == 0) world.turn();
    busy.controller.fetch(0);
    for (uint32_t plan = 0; plan < 4; plan++) {
      for (uint32_t turns = 0; turns < 300; turns++) world.turn();
      other.post(kRead, {1, 1}, NO_DEADLINE / 2);
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

// Plans are posted at any time, some with more commands than a warp has lanes, on rings of any size. This launch or the next one
// serves each plan, and every launch ends.
void plans_at_any_time(uint64_t seed, uint64_t* commands, uint64_t* launches) {
  Random shape(seed * 3 + 1);
  Layout layout = layout_of(seed % 3 * 20);
  layout.memory_bytes = 1 << 17;
  layout.entries = 2u << shape.below(7);
  layout.slots = 1 + shape.below(layout.entries - 1);
  if (shape.once_in(2)) layout.last_generation = 0xfffd;
  if (shape.once_in(2)) layout.start = 0u - layout.entries;
  World world(seed, layout);
  const uint32_t rarity = seed % 2 == 0 ? 12 : 600;
  world.run([&] {
    uint32_t to_post = 24;
    while (true) {
      const bool done = world.all([](const auto& rig) { return rig->look(); });
      if (to_post == 0 && done && world.have_ended()) break;
      Rig& rig = *world.rigs[world.random.below(kLeaders)];
      world.answer(rig, 6);
      if (to_post > 0 && rig.has_room() && world.random.once_in(rarity)) {
        std::vector<uint32_t> blocks(1 + world.random.below(world.random.once_in(3) ? 90 : 5));
        for (uint32_t& each : blocks) each = 1 + world.random.below(world.random.once_in(4) ? 47 : 9);
        rig.post(world.random.once_in(3) ? kWrite : kRead, blocks, NO_DEADLINE / 2);
        if (world.random.once_in(6)) rig.cancel(world.random.below(rig.plans.size()));
        to_post--;
      }
      // Like Session::StartIdle.
      if (world.have_ended() && !world.all([](const auto& each) { return !each->has_work(); })) world.launch();
      world.turn();
    }
  });
  *commands += world.commands();
  *launches += world.rigs[0]->launches;
}

// Some commands of one leader never complete. They time out after the others have completed, and the leader is reported as
// halted before the host sees their outcomes.
void unanswered(uint64_t seed) {
  Layout layout = layout_of(5);
  layout.entries = 64;
  layout.slots = 40;
  World world(seed, layout);
  Rig& rig = *world.rigs[0];
  rig.may_time_out = rig.may_halt = true;
  world.run([&] {
    rig.post(kRead, std::vector<uint32_t>(50, 1));
    world.launch();
    while (!rig.look()) {
      world.answer(rig);
      if (!rig.controller.outstanding.empty() && world.random.once_in(12)) rig.controller.outstanding.back().dropped = true;
      if (world.random.once_in(200)) rig.clock += 400;
      world.turn();
    }
    while (!world.have_ended()) world.turn();
  });
}

// The other leaders end after a pause has ended one of them.
void paused_alone(uint64_t seed) {
  World world(seed, layout_of(5));
  world.run([&] {
    world.launch();
    world.rigs[2]->flag(CONTROL_PAUSE);
    while (!world.have_ended()) world.turn();
  });
}

}  // namespace
}  // namespace model

int main(int count, char** args) {
  static uint64_t seed = strtoull(args[1], nullptr, 10);
  const uint64_t end = seed + strtoull(args[2], nullptr, 10);
  model::explain = [] { fprintf(stderr, "seed %llu\n", model::ull(seed)); };
  uint64_t commands = 0, launches = 0;
  for (; seed < end; seed++) {
    if (count == 3) {
      model::idle_leaders_stay(seed);
      model::paused_alone(seed);
      model::unanswered(seed);
    }
    model::plans_at_any_time(seed, &commands, &launches);
  }
  printf("%llu %llu\n", model::ull(commands), model::ull(launches));
}
