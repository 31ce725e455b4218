// Cost of the device code: serves shares on this thread, with a device that completes commands at once. Prints one JSON
// object per line.
//
//   device_code <what> <rounds> <commands> <depth> <blocks of 512 bytes>
//
// `what` is `both`; `engine` or `device` alone, for a profiler, with all work in Serve or AnswerAlone; or `count`, to
// count the accesses that would cross PCIe.
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "null_device.h"
#include "serve.cuh"
#include "solo_team.cuh"

namespace gpunvme {
namespace {

// CPU time of this thread, which excludes other load on the machine.
uint64_t ThreadNs() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1000000000 + static_cast<uint64_t>(now.tv_nsec);
}

[[noreturn]] void Fail(const char* what) {
  std::fprintf(stderr, "%s\n", what);
  std::exit(1);
}

struct Workload {
  uint32_t commands, depth, blocks;
  uint32_t entries() const { return HostLeader::entries_for(depth); }
};

// A separate function, so that the profiler can count it.
[[gnu::noinline]] void Serve(Leader& leader, uint64_t launch) { serve<SoloTeam, NullPort>(leader, launch); }

class Engine {
 public:
  explicit Engine(const Workload& load)
      : load_(load),
        device_(load.entries()),
        host_(device_.sq.data(), device_.cq.data()->words, device_.doorbells, load.depth, load.blocks) {
    NullPort::device = &device_;
    NullPort::host = &host_;
  }

  // Serves one share of all commands.
  uint64_t RunNs(bool counting) {
    host_.post(load_.commands);
    const uint64_t before = ThreadNs();
    if (counting) serve<SoloTeam, CountingPort>(host_.leader, ++launches_);
    else Serve(host_.leader, ++launches_);
    const uint64_t ns = ThreadNs() - before;
    if (host_.succeeded() != load_.commands) Fail("a command did not succeed");
    return ns;
  }

  uint64_t slbas() const { return device_.slbas; }
  const Report& report() const { return host_.report; }

 private:
  const Workload load_;
  NullDevice device_;
  HostLeader host_;
  uint64_t launches_ = 0;
};

// Runs the device alone: the same number of doorbells and commands, with whatever entries the queue holds.
[[gnu::noinline]] void AnswerAlone(NullDevice& device, const Workload& load) {
  for (uint32_t at = 0; at < load.commands; at += load.depth) device.Ring((at + load.depth) % load.entries());
}

uint64_t AnswerAloneNs(NullDevice& device, const Workload& load) {
  const uint64_t before = ThreadNs();
  AnswerAlone(device, load);
  return ThreadNs() - before;
}

void PrintCounts(const Workload& load, uint32_t rounds) {
  const auto print = [&](const char* name, uint64_t count, char behind) {
    std::printf("\"%s\":%.4f%c", name, static_cast<double>(count) / load.commands / rounds, behind);
  };
  std::printf("{");
  print("sqeStores", CountingPort::stores, ',');
  print("listStores", CountingPort::list_stores, ',');
  print("outcomeStores", CountingPort::outcome_stores, ',');
  print("doorbells", CountingPort::doorbells, ',');
  print("polls", CountingPort::polls, ',');
  print("hostLoads", CountingPort::host_loads, '}');
  std::printf("\n");
}

int Main(int argc, char** argv) {
  if (argc != 6) Fail("usage: device_code both|engine|device|count <rounds> <commands> <depth> <blocks>");
  const auto is = [&](const char* what) { return std::strcmp(argv[1], what) == 0; };
  const auto number = [&](int at) { return static_cast<uint32_t>(std::strtoul(argv[at], nullptr, 10)); };
  const Workload load = {number(3), number(4), number(5)};
  Engine engine(load);
  for (uint32_t round = 0; round < number(2); round++) {
    const uint64_t engine_ns = is("device") ? 0 : engine.RunNs(is("count"));
    NullDevice device(load.entries());
    const uint64_t device_ns = is("both") || is("device") ? AnswerAloneNs(device, load) : 0;
    const auto each = [&](uint64_t ns) { return static_cast<double>(ns) / load.commands; };
    std::printf("{\"engineNs\":%.3f,\"deviceNs\":%.3f,\"slbas\":%llu}\n", each(engine_ns), each(device_ns),
                static_cast<unsigned long long>(engine.slbas() + device.slbas));
  }
  if (is("count")) PrintCounts(load, number(2));
  std::printf("{\"commands\":%llu,\"doorbellWrites\":%llu}\n",
              static_cast<unsigned long long>(engine.report().commands),
              static_cast<unsigned long long>(engine.report().doorbell_writes));
  return 0;
}

}  // namespace
}  // namespace gpunvme

int main(int argc, char** argv) { return gpunvme::Main(argc, argv); }
