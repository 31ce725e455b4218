// `shared_queue_test SEED WORLD`: thousands of GPU threads, as fibers, on the queues of a gnv::Device, with delayed and
// reordered stores. Prints the number of commands by ending.
#include "fibers/fiber_team.h"
#include "shared_rig.h"

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
  // How often a thread falls far behind: by laps of the rings.
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
     {.drop_once_in = 30, .late_once_in = 20'000}, true},
    {"lost", {.queues = 4, .entries = 32, .slots = 20, .commands = 1024}, 512, {.drop_once_in = 200}, true, 600},
};

const World* world;
SharedRig* rig;
Random* numbers;
uint32_t steps = 0;
bool is_lost = false;

// Stores reach other threads late and in any order until the thread fences or releases. Loads are not reordered: a missing
// acquire is not detected.
struct WeakPort {
  static inline uint64_t now = 1'000'000;

  static void store16(void* at, const Quad& quad) { send(at, &quad, 16); }
  static void store64(uint64_t* at, uint64_t value) { send(at, &value, 8); }
  static void store_relaxed64(uint64_t* at, uint64_t value) { send(at, &value, 8); }
  static void fence() {
    point();
    arrive();
  }
  static void fence_acquire() { point(); }
  static void mmio_store32(uint32_t* at, uint32_t value) {
    point();
    rig->rings(at, value);
    __atomic_store_n(at, value, __ATOMIC_RELAXED);
  }
  static uint64_t load_completion64(const uint64_t* at) { return load(at); }
  static uint64_t load_relaxed64(const uint64_t* at) { return load(at); }
  static uint32_t load_relaxed32(const uint32_t* at) { return load(at); }
  static uint64_t load_acquire64_gpu(const uint64_t* at) { return load(at); }
  static uint32_t load_acquire32_gpu(const uint32_t* at) { return load(at); }
  static void store_release32(uint32_t* at, uint32_t value) { release(at, value); }
  static void store_release32_gpu(uint32_t* at, uint32_t value) { release(at, value); }
  static void store_release64_gpu(uint64_t* at, uint64_t value) { release(at, value); }
  static uint32_t add32_gpu(uint32_t* at, uint32_t value) {
    point();
    arrive();
    const uint32_t before = *at;
    *at += value;
    return before;
  }
  static uint32_t exchange32_gpu(uint32_t* at, uint32_t value) {
    point();
    arrive();
    const uint32_t before = *at;
    *at = value;
    return before;
  }
  static uint32_t cas32(uint32_t* at, uint32_t expected, uint32_t value) { return cas(at, expected, value); }
  static uint32_t cas32_gpu(uint32_t* at, uint32_t expected, uint32_t value) { return cas(at, expected, value); }
  static uint64_t cas64_gpu(uint64_t* at, uint64_t expected, uint64_t value) { return cas(at, expected, value); }
  static uint64_t now_ns() {
    point();
    return ++now;
  }
  static void relax(uint32_t) {
    now += 50;
    FiberBlock::now().pause();
  }

  // At the end of a kernel, all stores arrive.
  static void arrive() {
    auto& stores = mine();
    for (const Store& store : stores) memcpy(store.at, store.value, store.bytes);
    stores.clear();
  }

 private:
  struct Store {
    void* at;
    size_t bytes;
    unsigned char value[16];
  };
  static std::vector<Store>& mine() {
    static std::vector<std::vector<Store>> all;
    if (all.size() < FiberTeam::threads()) all.resize(FiberTeam::threads());
    return all[FiberTeam::thread()];
  }
  static void point() {
    auto& stores = mine();
    if (!stores.empty() && numbers->once_in(4)) {
      const size_t which = numbers->below(stores.size());
      const Store store = stores[which];
      // Not before an older one to the same place.
      bool is_first = true;
      for (size_t i = 0; i < which; i++) is_first = is_first && stores[i].at != store.at;
      if (is_first) {
        memcpy(store.at, store.value, store.bytes);
        stores.erase(stores.begin() + static_cast<ptrdiff_t>(which));
      }
    }
    FiberBlock::now().maybe_pause();
    if (numbers->once_in(world->stall_once_in))
      for (uint32_t turns = numbers->below(60); turns > 0; turns--) FiberBlock::now().pause();
  }
  static void send(void* at, const void* value, size_t bytes) {
    point();
    Store store{at, bytes, {}};
    memcpy(store.value, value, bytes);
    mine().push_back(store);
  }
  template <class Word>
  static void release(Word* at, Word value) {
    point();
    arrive();
    *at = value;
  }
  template <class Word>
  static Word cas(Word* at, Word expected, Word value) {
    point();
    arrive();
    const Word before = *at;
    if (before == expected) *at = value;
    return before;
  }
  // A thread sees its own stores.
  template <class Word>
  static Word load(const Word* at) {
    point();
    const auto& stores = mine();
    for (size_t i = stores.size(); i-- > 0;) {
      if (stores[i].at != at || stores[i].bytes != sizeof(Word)) continue;
      Word value;
      memcpy(&value, stores[i].value, sizeof value);
      return value;
    }
    return __atomic_load_n(at, __ATOMIC_RELAXED);
  }
};

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
  for (uint32_t i = 0; i < 4; i++) steps += rig->turn(*numbers, world->faults);
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
  numbers = &random_of_seed;
  SharedRig all(world->layout);
  rig = &all;
  for (uint32_t command = 0; command < world->layout.commands; command++)
    all.expect(command, numbers->once_in(3) ? GPUNVME_NVM_OPCODE_WRITE : GPUNVME_NVM_OPCODE_READ, 1 + numbers->below(20));
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
