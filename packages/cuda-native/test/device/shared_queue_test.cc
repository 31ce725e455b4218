// `shared_queue_test SEED WORLD`: thousands of GPU threads, as fibers, on the queues of a gnv::Device, with delayed and
// reordered stores. Prints the number of commands by ending.
#include "fibers/fiber_team.h"
#include "shared_rig.h"
#include "weak_port.h"

namespace model {
namespace {

struct World {
  const char* name;
  SharedLayout layout;
  uint32_t threads;
  SharedRig::Faults faults;
  bool may_halt = false;
  // After this many steps of controllers, the host declares all queues lost. 0: never.
  uint32_t lost_after = 0;
  // A thread stalls for laps of the rings in one of this many steps.
  uint32_t stall_once_in = 400;
};

const World kWorlds[] = {
    {"thousands", {.queues = 8, .entries = 64, .slots = 63, .commands = 4096}, 4096, {.status_once_in = 20}},
    {"strays", {.queues = 3, .entries = 16, .slots = 12, .commands = 608}, 256,
     {.status_once_in = 5, .duplicate_once_in = 3, .foreign_once_in = 9}},
    {"one-slot", {.queues = 2, .entries = 2, .slots = 1, .commands = 192}, 64, {}},
    {"wrap", {.queues = 2, .entries = 8, .slots = 7, .commands = 416, .start = 0u - 64}, 128, {}},
    {"drives", {.queues = 2, .entries = 16, .slots = 15, .commands = 512, .drives = 2}, 256, {}},
    {"laps", {.queues = 1, .entries = 4, .slots = 3, .commands = 512}, 64, {}, false, 0, 40},
    {"losses", {.queues = 16, .entries = 16, .slots = 9, .commands = 1024, .timeout_ns = 1'500'000}, 512,
     {.status_once_in = 20, .duplicate_once_in = 8, .drop_once_in = 60}, true, 0, 60},
    {"late", {.queues = 2, .entries = 16, .slots = 9, .commands = 512, .timeout_ns = 800'000}, 256,
     {.drop_once_in = 20, .late_once_in = 20'000}, true},
    {"lost", {.queues = 4, .entries = 32, .slots = 20, .commands = 1024}, 512, {.drop_once_in = 200}, true, 600},
};

const World* world;
SharedRig* rig;
uint32_t steps = 0;
bool is_lost = false;

using Device = gnv::BasicDevice<FiberTeam, WeakPort>;

// A thread's share of the commands: alone, with its warp, or with the odd or even lanes of its warp.
void kernel() {
  const Device device{rig->device};
  const uint32_t thread = FiberTeam::thread(), threads = FiberTeam::threads();
  const uint32_t warp = thread / 32;
  for (uint32_t command = thread; command < rig->layout.commands; command += threads) {
    // Whole warps: all numbers of commands are multiples of 32.
    const uint32_t round = command / threads;
    const uint32_t mode = (warp + round) % 3;
    const uint32_t mask = mode == 0   ? Device::alone()
                          : mode == 1 ? 0xffffffffu
                                      : (FiberTeam::lane() % 2 == 0 ? 0x55555555u : 0xaaaaaaaau);
    const Expected& expected = rig->queues[0]->controller.expected[command];
    const uint64_t start_ns = WeakPort::now;
    const uint64_t slba = SharedRig::kFirst + command, offset = SharedRig::offset_of(command);
    const uint32_t drive = command % rig->layout.drives;
    const gnv::Ticket ticket = expected.opcode == GPUNVME_NVM_OPCODE_READ
                                   ? device.read(drive, slba, expected.blocks, rig->buffer, offset, mask)
                                   : device.write(drive, slba, expected.blocks, rig->buffer, offset, mask);
    const gnv::Outcome outcome = device.wait(ticket, mode == 2 ? Device::alone() : mask);
    REQUIRE(outcome.ending() != GNV_TIMEOUT || WeakPort::now - start_ns >= rig->device.timeout_ns, "a time-out before the limit");
    rig->end(command, outcome);
  }
  WeakPort::arrive();
}

void turn() {
  for (uint32_t i = 0; i < 4; i++) steps += rig->turn(*WeakPort::numbers, world->faults);
  if (world->lost_after == 0 || steps < world->lost_after || is_lost) return;
  is_lost = true;
  for (gnv_queue& queue : rig->pairs) queue.state = GNV_QUEUE_LOST;
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
  WeakPort::stall_once_in = world->stall_once_in;
  SharedRig all(world->layout);
  rig = &all;
  WeakPort::rings = [](const uint32_t* at, uint32_t value) { rig->rings(at, value); };
  for (uint32_t command = 0; command < world->layout.commands; command++)
    all.expect(command, random_of_seed.once_in(3) ? GPUNVME_NVM_OPCODE_WRITE : GPUNVME_NVM_OPCODE_READ, 1 + random_of_seed.below(20));
  all.begin();
  FiberLaunch launch;
  launch.threads = launch.max_threads = world->threads;
  launch.max_pauses = 2'000'000;
  launch.seed = seed;
  launch.between = turn;
  run_fibers(launch, kernel);
  for (const uint32_t count : all.finish(world->may_halt)) printf("%u ", count);
  printf("\n");
}
