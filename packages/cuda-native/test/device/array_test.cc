// `array_test SEED WORLD`: thousands of GPU threads, as fibers, read a gnv::Array whose cache is smaller than what they read,
// with delayed and reordered stores. Prints the number of accesses by ending, then reads and failed reads of the controller,
// hits, misses, coalesced accesses, evictions and busy ones.
#include "array_rig.h"
#include "weak_port.h"

namespace model {
namespace {

struct World {
  const char* name;
  ArrayLayout layout;
  uint32_t threads;
  // Accesses of each thread, and number of different pages.
  uint32_t rounds;
  uint32_t pages;
  ArrayRig::Faults faults;
  // Each slot that times out is quarantined. With all of them, accesses end with GNV_BUSY.
  bool may_fail = false;
  // After this many steps of controllers, and a read that they do not complete, the host declares all queues lost. 0: never.
  uint32_t lost_after = 0;
};

const World kWorlds[] = {
    {"thousands", {.set_shift = 4, .ways = 16, .queues = 8, .entries = 64}, 4096, 2, 640, {}},
    {"thrash", {.set_shift = 1, .ways = 4}, 256, 8, 48, {}},
    {"one-slot", {.set_shift = 0, .ways = 1}, 64, 4, 6, {}},
    {"hot", {.set_shift = 2, .ways = 4}, 1024, 4, 3, {}},
    {"failing", {.set_shift = 1, .ways = 3}, 256, 8, 12, {.status_once_in = 3}, true},
    {"only-failures", {.set_shift = 0, .ways = 2}, 256, 2, 1, {.status_once_in = 1}, true},
    {"losses", {.set_shift = 2, .ways = 8, .queues = 8, .timeout_ns = 150'000}, 256, 6, 64,
     {.status_once_in = 20, .drop_once_in = 20, .late_once_in = 8000}, true},
    {"lost", {.set_shift = 2, .ways = 8}, 256, 8, 64, {.drop_once_in = 15}, true, 100},
};

const World* world;
ArrayRig* rig;
uint32_t steps = 0;
bool is_lost = false;
uint32_t endings[8] = {};

using Array = gnv::BasicArray<uint64_t, FiberTeam, WeakPort>;

// Pages with the same low 32 bits, neighbours, and the last one, which is incomplete.
uint64_t page_at(uint32_t which) {
  if (which == 0) return ArrayRig::kBytes >> ArrayRig::kPageShift;
  return uint64_t{which % 4} << 32 | which / 4;
}

void require_content(uint64_t index, uint64_t value) {
  REQUIRE(value == ArrayRig::content(index), "index %llu has the value %llx, not %llx", ull(index), ull(value), ull(ArrayRig::content(index)));
}

void read_one(const Array& array, uint64_t index, uint32_t mask) {
  uint64_t value = 0;
  const gnv::Outcome outcome = array.read(index, value, mask);
  endings[outcome.ending()]++;
  if (outcome.ok()) require_content(index, value);
}

// Some lanes take so long for the elements of a page that a slot can get another page meanwhile.
void read_page(const Array& array, uint64_t index, uint32_t mask, Random& random) {
  Array::Page page = array.pin(index, mask);
  endings[page.outcome.ending()]++;
  uint32_t pauses = page.ok() && random.once_in(16) ? random.below(200) : 0;
  for (uint32_t i = 0; page.ok() && i < page.count; i++) {
    for (; i == page.count / 2 && pauses > 0; pauses--) FiberBlock::now().pause();
    require_content(page.first + i, page.data[i]);
  }
  array.unpin(page, mask);
}

void kernel() {
  const Array array{rig->array};
  Random random(WeakPort::numbers->next());
  const uint32_t warp = FiberTeam::thread() / 32, lane = FiberTeam::lane();
  for (uint32_t round = 0; round < world->rounds; round++) {
    // The lanes of a mask draw the same numbers.
    const uint32_t mode = (warp + round) % 5;
    const uint32_t mask = mode == 0 ? Array::alone() : mode == 1 || mode == 4 ? 0xffffffffu : lane % 2 == 0 ? 0x55555555u : 0xaaaaaaaau;
    Random of_mask(warp * 1000 + round * 10 + (mode == 0 ? 100'000 + lane : mode == 2 || mode == 3 ? lane % 2 : 0));
    const uint64_t same = page_at(of_mask.below(world->pages));
    const uint64_t own = page_at(random.below(world->pages));
    const bool is_mixed = mode == 1 || mode == 2;
    const uint64_t page = is_mixed && random.once_in(2) ? own : same;
    const uint64_t index = page * ArrayRig::kInPage + random.below(2);
    if (mode == 3 || mode == 4) read_page(array, same * ArrayRig::kInPage + of_mask.below(2), mask, random);
    else read_one(array, index, mask);
  }
  WeakPort::arrive();
}

void turn() {
  for (uint32_t i = 0; i < 4; i++) steps += rig->turn(*WeakPort::numbers, world->faults);
  // A second slot keeps its page for longer than this takes.
  if (WeakPort::numbers->once_in(4)) rig->audit();
  if (world->lost_after == 0 || steps < world->lost_after || rig->drops == 0 || is_lost) return;
  is_lost = true;
  for (gnv_queue& queue : rig->shared.pairs) queue.state = GNV_QUEUE_LOST;
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
  ArrayRig all(world->layout);
  rig = &all;
  WeakPort::rings = [](const uint32_t* at, uint32_t value) { rig->shared.rings(at, value); };
  FiberLaunch launch;
  launch.threads = launch.max_threads = world->threads;
  launch.max_pauses = 4'000'000;
  launch.seed = seed;
  launch.between = turn;
  run_fibers(launch, kernel);
  const gnv_page_set sum = all.finish();
  const uint32_t good = endings[GNV_SUCCESS];
  REQUIRE(world->may_fail || good == world->threads * world->rounds, "%u of %u accesses succeeded", good, world->threads * world->rounds);
  for (const uint32_t count : endings) printf("%u ", count);
  printf("%llu %llu %llu %llu %llu %llu %llu\n", ull(all.fetches), ull(all.failures), ull(sum.hits), ull(sum.misses), ull(sum.coalesced),
         ull(sum.evictions), ull(sum.busy));
}
