// `array_lanes_test CASE`: the lanes of a warp read different pages of a gnv::Array with a single slot, on a slow drive.
#include "array_rig.h"
#include "weak_port.h"

namespace model {
namespace {

constexpr uint64_t kTimeoutNs = 200'000;
// The controller completes commands once in each period: two consecutive reads take longer than the time limit.
constexpr uint64_t kPeriodNs = kTimeoutNs / 10 * 6;

ArrayRig* rig;
uint64_t next_turn_ns = WeakPort::now + kPeriodNs;
// Whether another thread pins the page that is read first, and never unpins it.
bool is_pinned_by_other = false;
uint32_t endings[8] = {};

void turn() {
  if (WeakPort::now < next_turn_ns) return;
  next_turn_ns = WeakPort::now + kPeriodNs;
  for (uint32_t i = 0; i < 100; i++) rig->turn(*WeakPort::numbers, {});
  if (!is_pinned_by_other) return;
  rig->words[0]++;
  is_pinned_by_other = false;
}

void kernel() {
  const gnv::BasicArray<uint64_t, FiberTeam, WeakPort> array{rig->array};
  const uint64_t index = FiberTeam::lane() * ArrayRig::kInPage;
  uint64_t value = 0;
  const gnv::Outcome outcome = array.read(index, value, FiberTeam::kAllLanes);
  endings[outcome.ending()]++;
  REQUIRE(!outcome.ok() || value == ArrayRig::content(index), "index %llu has the value %llx", ull(index), ull(value));
  WeakPort::arrive();
}

// Runs the kernel on a warp. @returns the elapsed time, in ns
uint64_t run() {
  static Random numbers(1);
  WeakPort::numbers = &numbers;
  WeakPort::rings = [](const uint32_t* at, uint32_t value) { rig->shared.rings(at, value); };
  FiberLaunch launch;
  launch.between = turn;
  const uint64_t start_ns = WeakPort::now;
  run_fibers(launch, kernel);
  return WeakPort::now - start_ns;
}

// Each lane gets its element, although the reads of all lanes take far longer than the time limit.
void slow() {
  const uint64_t elapsed_ns = run();
  REQUIRE(endings[GNV_SUCCESS] == 32, "%u of 32 lanes have their element", endings[GNV_SUCCESS]);
  REQUIRE(elapsed_ns > 10 * kTimeoutNs, "the reads took only %llu ns", ull(elapsed_ns));
  REQUIRE(rig->finish().misses == 32, "not all lanes read their page");
}

// The lanes wait for a slot for the whole time limit after the read, and no longer.
void taken() {
  is_pinned_by_other = true;
  const uint64_t elapsed_ns = run();
  REQUIRE(endings[GNV_SUCCESS] == 1 && endings[GNV_BUSY] == 31, "%u lanes have their element, %u are busy", endings[GNV_SUCCESS],
          endings[GNV_BUSY]);
  REQUIRE(elapsed_ns >= kPeriodNs + kTimeoutNs && elapsed_ns < kPeriodNs + kTimeoutNs + 20'000, "after %llu ns", ull(elapsed_ns));
}

}  // namespace
}  // namespace model

int main(int, char** args) {
  using namespace model;
  ArrayRig all({.set_shift = 0, .ways = 1, .queues = 1, .timeout_ns = kTimeoutNs});
  rig = &all;
  if (strcmp(args[1], "slow") == 0) slow();
  else if (strcmp(args[1], "taken") == 0) taken();
  else fail("no case %s", args[1]);
}
