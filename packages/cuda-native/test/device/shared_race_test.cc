// `shared_race_test SEED`: threads of the CPU share the queues of a gnv::Device, with a controller on a thread of its own, for
// ThreadSanitizer and the other sanitizers.
#include <unistd.h>

#include <thread>

#include "race_port.h"
#include "shared_rig.h"
#include "solo_team.cuh"

namespace model {
namespace {

constexpr uint32_t kThreads = 5;

uint64_t seed;

// Threads stop for a while between the steps of a submission, and before they free a slot: others use whole laps of the rings.
struct StallingPort : RacePort {
  static void stall() {
    static thread_local Random own(seed + SoloTeam::block());
    if (own.once_in(6)) usleep(own.below(3000));
  }
  static uint32_t add32_relaxed_gpu(uint32_t* at, uint32_t value) {
    stall();
    return RacePort::add32_relaxed_gpu(at, value);
  }
  static uint64_t cas64_gpu(uint64_t* at, uint64_t expected, uint64_t value) {
    const uint64_t before = RacePort::cas64_gpu(at, expected, value);
    stall();
    return before;
  }
};

template <class Port>
void run(const SharedLayout& layout, const SharedRig::Faults& faults, bool may_halt) {
  SharedRig rig(layout);
  Random random(seed);
  for (uint32_t command = 0; command < layout.commands; command++)
    rig.expect(command, random.once_in(3) ? GPUNVME_NVM_OPCODE_WRITE : GPUNVME_NVM_OPCODE_READ, 1 + random.below(20));
  rig.begin();
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
      const gnv::BasicDevice<SoloTeam, Port> device{rig.device};
      // Two commands at a time, waited for in the order of their submission or the other.
      for (uint32_t command = thread; command < layout.commands; command += 2 * kThreads) {
        const uint32_t pair[2] = {command, command + kThreads};
        const uint32_t count = pair[1] < layout.commands && layout.slots > kThreads ? 2 : 1;
        gnv::Ticket tickets[2];
        const auto submit = [&](uint32_t which) {
          const Expected& expected = rig.queues[0]->controller.expected[which];
          const uint64_t slba = SharedRig::kFirst + which, offset = SharedRig::offset_of(which);
          return expected.opcode == GPUNVME_NVM_OPCODE_READ ? device.read(0, slba, expected.blocks, rig.buffer, offset)
                                                            : device.write(0, slba, expected.blocks, rig.buffer, offset);
        };
        for (uint32_t i = 0; i < count; i++) tickets[i] = submit(pair[i]);
        for (uint32_t i = 0; i < count; i++) {
          const uint32_t which = command % 2 == 0 ? i : count - 1 - i;
          rig.end(pair[which], device.wait(tickets[which]));
        }
        if (count == 1 && pair[1] < layout.commands) rig.end(pair[1], device.wait(submit(pair[1])));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  __atomic_store_n(&stop, true, __ATOMIC_RELEASE);
  controller.join();
  rig.finish(may_halt);
}

}  // namespace
}  // namespace model

int main(int, char** args) {
  using namespace model;
  seed = strtoull(args[1], nullptr, 10);
  explain = [] { fprintf(stderr, "seed %llu\n", ull(seed)); };
  run<RacePort>({.queues = 2, .entries = 8, .slots = 7, .commands = 300}, {.status_once_in = 8, .duplicate_once_in = 7}, false);
  run<RacePort>({.queues = 1, .entries = 4, .slots = 2, .commands = 100, .start = 0u - 16}, {.status_once_in = 8}, false);
  // A time limit that some commands exceed, others not: real time.
  run<RacePort>({.queues = 2, .entries = 8, .slots = 7, .commands = 100, .timeout_ns = 20'000'000}, {.drop_once_in = 20}, true);
  run<StallingPort>({.queues = 1, .entries = 4, .slots = 3, .commands = 1500}, {}, false);
}
