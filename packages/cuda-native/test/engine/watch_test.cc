// Simulates the reports of a session's leaders: a silent leader must be detected regardless of the reports of others.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <vector>

#include "engine/run_table.h"
#include "engine/session.h"
#include "leader.cuh"

#define REQUIRE(condition)                                                   \
  do {                                                                       \
    if (condition) break;                                                    \
    fprintf(stderr, "line %d: %s\n", __LINE__, #condition);                  \
    exit(1);                                                                 \
  } while (false)

namespace {

using namespace gpunvme;

// Launches no threads.
class Idle final : public Executor {
 public:
  void Wakes(Waker*) override {}
  void Serves(Pausable* leaders) override { served = leaders; }
  bool HasRoom(size_t, size_t) const override { return true; }
  Problem Grow(size_t, size_t) override { return {}; }
  Problem AllocateShared(size_t bytes, SharedBlock* block) override {
    AllocateLocal(bytes, &block->device);
    block->host = reinterpret_cast<uint8_t*>(block->device);
    return {};
  }
  void FreeShared(const SharedBlock& block) override { FreeLocal(block.device); }
  Problem AllocateLocal(size_t bytes, uint64_t* device) override {
    const size_t whole = (bytes + 63) / 64 * 64;
    void* memory = memset(std::aligned_alloc(64, whole), 0, whole);
    *device = reinterpret_cast<uintptr_t>(memory);
    return {};
  }
  void FreeLocal(uint64_t device) override { std::free(reinterpret_cast<void*>(device)); }
  Problem Upload(uint64_t device, const void* from, size_t bytes) override {
    memcpy(reinterpret_cast<void*>(device), from, bytes);
    return {};
  }
  Problem Download(void* to, uint64_t device, size_t bytes) override {
    memcpy(to, reinterpret_cast<void*>(device), bytes);
    return {};
  }
  Problem Reach(uint64_t address, size_t, bool, uint64_t* device) override {
    *device = address;
    return {};
  }
  void Forget(uint64_t) override {}
  bool LaunchesTogether() const override { return together; }
  void Posted() override { posts++; }
  Problem Launch(const LaunchedLeaders& leaders, uint64_t launch) override {
    attempts++;
    if (failures > 0) {
      failures--;
      return {"cuLaunchKernel", "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES", "too many resources", 701};
    }
    this->leaders = reinterpret_cast<const Leader*>(leaders.at);
    for (unsigned number = leaders.first; number < leaders.first + leaders.count; number++) {
      reports[number] = const_cast<Report*>(leaders.reports + number - leaders.first);
      launches[number] = launch;
      if (!answers) continue;
      reports[number]->in_flight = 0;
      end(number);
    }
    return {};
  }
  Problem Check() override { return {}; }
  Problem Join() override { return {}; }
  void Abandon() override {}
  bool End() override { return true; }

  // Reports the end of a launch, as a leader does.
  void end(unsigned number) { reports[number]->ended = launches[number]; }

  bool together = false;
  // Leaders of the last launch.
  const Leader* leaders = nullptr;
  Pausable* served = nullptr;
  // Number of the next launches that fail, and of all attempts.
  unsigned failures = 0, attempts = 0;
  // Number of calls to Posted.
  unsigned posts = 0;
  // Whether a launch awaits all commands and ends at once.
  bool answers = false;
  std::map<unsigned, Report*> reports;
  std::map<unsigned, uint64_t> launches;
};

}  // namespace

int main() {
  alignas(64) static uint64_t memory[1024];
  const Memory all = {reinterpret_cast<uintptr_t>(memory), sizeof memory, false};
  auto executor = std::make_shared<Idle>();
  Session session(executor, {1000, 0}, nullptr);
  std::shared_ptr<RunTable> table;
  REQUIRE(!session.Describe({0x1000}, 63, sizeof memory, &table));
  uint16_t generations[2] = {};
  std::vector<QueueLayout> layouts;
  for (uint32_t index = 0; index < 2; index++) {
    layouts.push_back({all, all, all, table, index + 1, 4, 0, 0, 1, 1, 4096, 4096, 0, 4, &generations[index]});
  }
  REQUIRE(!session.Attach(all, true, layouts));
  // Idle leaders do not count as silent.
  REQUIRE(session.Watch() == 0 && session.Watch() == 0);

  const double slba[] = {0, 1}, offset[] = {0, 512};
  const uint32_t blocks[] = {1, 1};
  const uint16_t queues[] = {0, 1};
  bool posted = false;
  REQUIRE(!session.Post(1, {2, 1, 512, 2, slba, blocks, offset, queues, 1000}, table, &posted) && posted);
  REQUIRE(executor->launches.size() == 2);

  // The first leader never starts. The second one makes progress.
  for (uint32_t calls = 1; calls <= 5; calls++) {
    executor->reports[1]->heartbeat++;
    REQUIRE(session.Watch() == calls);
  }
  // The first leader increments its heartbeat once.
  executor->reports[0]->heartbeat++;
  executor->reports[1]->heartbeat++;
  REQUIRE(session.Watch() == 0);
  executor->reports[1]->heartbeat++;
  REQUIRE(session.Watch() == 1);
  // The first leader ends with work left. The silence of its next launch is timed from that launch.
  executor->end(0);
  executor->reports[1]->heartbeat++;
  REQUIRE(session.Watch() == 0);
  std::vector<Finished> finished;
  REQUIRE(!session.Poll(&finished) && executor->launches[0] == 2);
  executor->reports[1]->heartbeat++;
  REQUIRE(session.Watch() == 1);

  // Paused leaders are not launched. After the pause, leaders with work are.
  executor->served->Pause();
  REQUIRE(!executor->served->HaveEnded());
  executor->end(0);
  executor->end(1);
  REQUIRE(executor->served->HaveEnded());
  REQUIRE(!session.Poll(&finished) && executor->launches[0] == 2);
  executor->served->Resume();
  REQUIRE(executor->launches[0] == 3 && executor->launches[1] == 2);
  executor->end(0);
  executor->end(1);

  // A launch has left a command in flight. Detach awaits it before it returns the queues, even after a failed launch.
  executor->reports[0]->in_flight = 1;
  executor->answers = true;
  executor->failures = 1;
  const unsigned before = executor->attempts;
  REQUIRE(!session.Detach(10'000'000'000, &layouts) && executor->attempts == before + 2);

  // Leaders that are launched together: if one ends with work left, the other is paused, and both are launched again.
  executor->together = true;
  executor->answers = false;
  executor->launches.clear();
  REQUIRE(!session.Attach(all, true, layouts));
  REQUIRE(!session.Post(2, {2, 1, 512, 1, slba, blocks, offset, queues, 1000}, table, &posted) && posted);
  REQUIRE(executor->posts == 2);
  REQUIRE(executor->launches.size() == 2 && executor->launches[0] == 1 && executor->launches[1] == 1);
  const auto control = [&](unsigned leader) { return *executor->leaders[leader].control; };
  executor->end(0);
  REQUIRE((control(0) & CONTROL_PAUSE) == 0 && !session.Poll(&finished));
  REQUIRE((control(1) & CONTROL_PAUSE) != 0 && executor->launches[0] == 1);
  // The second leader has no work and stops reporting, so it counts as silent.
  executor->reports[1]->heartbeat++;
  REQUIRE(session.Watch() == 0);
  for (uint32_t calls = 1; calls <= 3; calls++) REQUIRE(session.Watch() == calls);
  executor->end(1);
  REQUIRE(!session.Poll(&finished) && executor->launches[0] == 2 && executor->launches[1] == 2);
  REQUIRE(((control(0) | control(1)) & CONTROL_PAUSE) == 0);
  executor->answers = true;
  executor->end(0);
  executor->end(1);
  REQUIRE(!session.Detach(10'000'000'000, &layouts));
}
