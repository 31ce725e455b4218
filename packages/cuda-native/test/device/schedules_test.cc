// A leader, a controller and a host as fibers of one thread: before each operation of the leader's port, a random fiber may
// continue. `schedules_test FIRST COUNT [WORLD]` runs a schedule for each of COUNT seeds from FIRST, in one of the worlds below
// or in all of them. A failure prints seed, world and schedule.
#include <ucontext.h>

#include <string>

#include "hook_port.h"
#include "rig.h"
#include "solo_team.cuh"

namespace model {
namespace {

enum World : uint32_t { CLEAN, STRAYS, CANCELS, LATE, LOST, WORLDS };
constexpr const char* kWorlds[] = {"clean", "strays", "cancels", "late", "lost"};

enum Who : uint32_t { LEADER, CONTROLLER, HOST, ALL };

constexpr size_t kStackBytes = 256 << 10;
constexpr uint32_t kMaxSteps = 400'000;

class Schedule {
 public:
  Schedule(uint64_t seed, World world) : seed_(seed), world_(world), random_(seed * WORLDS + world) {}

  void run() {
    now_ = this;
    explain = [] { now_->tell(); };
    draw();
    HookPort::numbers = &random_;
    HookPort::wakes = 0;
    HookPort::between = [this] { yield(); };
    HookPort::rings = [this](const uint32_t* at, uint32_t value) { rig_->rung(at, value); };
    static char stacks[ALL][kStackBytes];
    void (*const bodies[ALL])() = {[] { now_->lead(); }, [] { now_->control(); }, [] { now_->host(); }};
    for (uint32_t who = 0; who < ALL; who++) {
      getcontext(&fibers_[who]);
      fibers_[who].uc_stack.ss_sp = stacks[who];
      fibers_[who].uc_stack.ss_size = kStackBytes;
      fibers_[who].uc_link = &main_;
      makecontext(&fibers_[who], bodies[who], 0);
      quantum_[who] = 1u << 3 * random_.below(3);
    }
    who_ = HOST;
    swapcontext(&main_, &fibers_[HOST]);
    explain = nullptr;
  }

  uint64_t commands() const { return rig_->report.commands; }

 private:
  void draw() {
    Layout layout;
    layout.entries = 2u << random_.below(3);
    layout.slots = 1 + random_.below(layout.entries - 1);
    layout.list_pages = 2;
    layout.linger_ns = random_.once_in(2) ? 0 : random_.below(200);
    layout.memory_bytes = 1 << 14;
    // Identifiers and positions wrap while it runs.
    if (random_.once_in(2)) layout.last_generation = 0xfffd;
    if (random_.once_in(2)) layout.start = 0u - 2 * layout.entries;
    rig_ = std::make_unique<Rig>(layout);
    rig_->may_time_out = rig_->may_halt = world_ == LATE;
    if (world_ == LOST) rig_->may_halt = rig_->may_be_lost = true;
    to_post_ = 3 + random_.below(10);
  }

  // Continues with a random fiber, possibly the same one.
  void yield() {
    if (++steps_ > kMaxSteps) fail("no end after %u steps", kMaxSteps);
    if (left_ > 0) {
      left_--;
      return;
    }
    const uint32_t next = random_.below(ALL);
    left_ = random_.below(quantum_[next]);
    if (log_.size() < 1 << 20) log_.push_back(static_cast<char>("LCH"[next]));
    if (next == who_) return;
    const uint32_t before = who_;
    who_ = next;
    swapcontext(&fibers_[before], &fibers_[next]);
  }
  // Called by a fiber that has nothing to do until another one has acted.
  void pause() {
    left_ = 0;
    yield();
  }

  void lead() {
    for (;;) {
      while (launched_ == rig_->launches) pause();
      launched_ = rig_->launches;
      serve<SoloTeam, HookPort>(rig_->leader, launched_);
      HookPort::arrive();
      rig_->ended();
    }
  }

  void control() {
    for (;;) {
      yield();
      if (!act()) pause();
    }
  }

  // Takes a random step of the controller. Returns whether there was one.
  bool act() {
    Controller& controller = rig_->controller;
    if (controller.announced(controller.sqs[0]) > 0 && random_.once_in(2)) {
      controller.fetch(0);
      if (world_ == LATE && random_.once_in(12)) controller.outstanding.back().dropped = true;
      if (world_ == LOST && random_.once_in(3)) controller.outstanding.back().dropped = true;
      return true;
    }
    const uint32_t room = controller.room();
    if (room == 0) return false;
    if (!controller.outstanding.empty() && random_.once_in(2)) {
      const uint32_t which = random_.below(controller.outstanding.size());
      const bool kept = controller.outstanding[which].dropped && !closing_ && !(world_ == LATE && random_.once_in(40));
      if (kept) return false;
      done_.push_back(controller.outstanding[which].cid);
      // Abort Requested, or Unrecovered Read Error with More and Do Not Retry.
      const uint16_t status = random_.once_in(8) ? (random_.once_in(2) ? 0x0007 : 0x6281) : 0;
      controller.complete(which, status);
      return true;
    }
    if (world_ == STRAYS && controller.strays < 12 && !closing_ && random_.once_in(12)) {
      const auto unknown = static_cast<uint16_t>(0x4000 | random_.below(0x1000));
      switch (random_.below(3)) {
        case 0:
          if (done_.empty()) return false;
          controller.stray(kQid, done_.back());
          return true;
        case 1: controller.stray(kQid, unknown); return true;
        default: controller.stray(static_cast<uint16_t>(100 + random_.below(2)), done_.empty() ? 0 : done_.back()); return true;
      }
    }
    return false;
  }

  // Like Session::StartIdle.
  void start_idle() {
    if (rig_->has_ended() && rig_->has_work()) rig_->launches++;
  }

  void host() {
    uint64_t seen_wakes = 0;
    bool all = true;
    while (to_post_ > 0 || !all) {
      yield();
      if (HookPort::wakes != seen_wakes) {
        seen_wakes = HookPort::wakes;
        all = rig_->look();
        if (load(&rig_->report.halted) != 0) saw_halted_ = true;
        start_idle();
      } else if (to_post_ > 0 && random_.once_in(3)) {
        std::vector<uint32_t> blocks(1 + random_.below(6));
        // Up to 12 pages of data, whose PRP lists have up to two pages.
        for (uint32_t& each : blocks) each = 1 + random_.below(random_.once_in(4) ? 47 : 9);
        const bool write = random_.once_in(3);
        rig_->post(write ? GPUNVME_NVM_OPCODE_WRITE : GPUNVME_NVM_OPCODE_READ, blocks, 1000, 4 * random_.below(5));
        after_halt_.push_back(saw_halted_);
        to_post_--;
        all = false;
        start_idle();
      } else if (world_ == CANCELS && !rig_->plans.empty() && random_.once_in(16)) {
        rig_->cancel(random_.below(rig_->plans.size()));
      } else if (world_ == LATE && random_.once_in(16)) {
        rig_->clock += random_.below(600);
      } else if (world_ == LOST && random_.once_in(100)) {
        rig_->flag(CONTROL_HALT | CONTROL_LOST);
      } else {
        pause();
      }
      if (world_ == LOST && to_post_ == 0 && random_.once_in(8)) rig_->flag(CONTROL_HALT | CONTROL_LOST);
    }
    close();
    swapcontext(&fibers_[HOST], &main_);
  }

  // Completes all outstanding commands, and launches the leader, with stop set, until it has consumed the completions.
  void close() {
    closing_ = true;
    rig_->flag(CONTROL_STOP);
    Controller& controller = rig_->controller;
    const auto is_quiet = [&] { return controller.announced(controller.sqs[0]) == 0 && controller.outstanding.empty(); };
    const auto has_consumed = [&] { return (rig_->leader.queue.cq_head & (rig_->layout.entries - 1)) == controller.cq_tail; };
    while (!is_quiet() || !rig_->has_ended() || !has_consumed()) {
      pause();
      if (rig_->has_ended() && !has_consumed()) rig_->launches++;
    }
    rig_->finish();
    for (size_t at = 0; at < after_halt_.size(); at++)
      for (const uint64_t word : rig_->plans[at]->outcomes)
        REQUIRE(!after_halt_[at] || word == 0, "a leader submitted a command after it had reported that it is halted");
  }

  void tell() const {
    const Layout& of = rig_->layout;
    fprintf(stderr, "seed %llu, world %s: %u entries from position %u, %u slots, linger %llu ns\n", ull(seed_),
            kWorlds[world_], of.entries, of.start, of.slots, ull(of.linger_ns));
    fprintf(stderr, "%u steps; the last fibers: %s\n", steps_,
            log_.substr(log_.size() > 400 ? log_.size() - 400 : 0).c_str());
    fprintf(stderr, "to reproduce: schedules_test %llu 1 %s\n", ull(seed_), kWorlds[world_]);
  }

  static inline Schedule* now_ = nullptr;
  const uint64_t seed_;
  const World world_;
  Random random_;
  std::unique_ptr<Rig> rig_;
  ucontext_t main_, fibers_[ALL];
  uint32_t quantum_[ALL];
  uint32_t who_ = HOST;
  uint32_t left_ = 0;
  uint32_t steps_ = 0;
  uint32_t to_post_ = 0;
  uint64_t launched_ = 0;
  bool closing_ = false;
  bool saw_halted_ = false;
  std::vector<bool> after_halt_;
  // Identifiers of completed commands.
  std::vector<uint16_t> done_;
  std::string log_;
};

}  // namespace
}  // namespace model

int main(int count, char** args) {
  using namespace model;
  const uint64_t first = strtoull(args[1], nullptr, 10);
  const uint64_t schedules = strtoull(args[2], nullptr, 10);
  uint64_t commands = 0;
  for (uint64_t seed = first; seed < first + schedules; seed++) {
    for (uint32_t world = 0; world < WORLDS; world++) {
      if (count > 3 && strcmp(args[3], kWorlds[world]) != 0) continue;
      Schedule schedule(seed, static_cast<World>(world));
      schedule.run();
      commands += schedule.commands();
    }
  }
  printf("%llu\n", static_cast<unsigned long long>(commands));
}
