// Cost of the device code: shares served on this thread, with a device that answers at once. Prints one JSON object per
// line.
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

namespace gpunvme {
namespace {

constexpr uint32_t kPageBytes = 4096;
constexpr uint32_t kBlockBytes = 512;

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
  uint32_t bytes() const { return blocks * kBlockBytes; }
};

// A separate function, for the profiler.
[[gnu::noinline]] void Serve(Leader& leader, uint64_t launch) { serve<NullPort>(leader, launch); }

// One queue pair and its leader, laid out as by the session.
class Engine {
 public:
  explicit Engine(const Workload& load)
      : load_(load), device_(load.depth + 1), slots_(load.depth), free_slots_(load.depth), shares_(SHARES),
        actives_(SHARES), commands_(load.commands), outcomes_(load.commands) {
    NullPort::device = &device_;
    // Pages are not contiguous, like memory pinned page by page.
    const uint64_t bytes = static_cast<uint64_t>(load.depth) * load.bytes();
    for (uint64_t at = 0; at < bytes; at += kPageBytes) pages_.push_back((1ULL << 32) + 2 * at);
    prp_list_pages_.push_back(1ULL << 40);
    prp_lists_.resize(load.depth * kPageBytes / 8);
    for (uint32_t at = 0; at < load.commands; at++) {
      const uint64_t slba = static_cast<uint64_t>(at) * load.blocks % (1 << 20);
      commands_[at] = {slba, static_cast<uint64_t>(at % load.depth) * load.bytes(), load.blocks, at};
    }
    for (uint32_t slot = 0; slot < load.depth; slot++) free_slots_[slot] = slot;
    pair_.sq = reinterpret_cast<Quad*>(device_.sq.data());
    pair_.tail_doorbell = &device_.doorbells[0];
    pair_.prp_lists = prp_lists_.data();
    pair_.prp_list_runs = {prp_list_pages_.data(), 63};
    pair_.prp_list_bytes = kPageBytes;
    pair_.page_bytes = kPageBytes;
    pair_.slots = slots_.data();
    pair_.free_slots = free_slots_.data();
    pair_.shares = shares_.data();
    pair_.control = &control_;
    pair_.active = actives_.data();
    pair_.qid = NullDevice::kQid;
    pair_.sq_entries = load.depth + 1;
    pair_.slot_count = load.depth;
    while (1u << pair_.slot_bits < load.depth) pair_.slot_bits++;
    pair_.free_count = load.depth;
    leader_.cq = device_.cq.data()->words;
    leader_.head_doorbell = &device_.doorbells[1];
    leader_.pairs = &pair_;
    leader_.report = &report_;
    leader_.grid = &grid_;
    leader_.pair_count = 1;
    leader_.cq_entries = load.depth + 1;
    leader_.phase = 1;
    leader_.next_deadline_ns = NO_DEADLINE;
  }

  // Serves one share of all commands.
  uint64_t RunNs(bool counting) {
    std::fill(outcomes_.begin(), outcomes_.end(), 0);
    Share& share = shares_[control_ % SHARES];
    share = {};
    share.commands = commands_.data();
    share.outcomes = outcomes_.data();
    share.memory = {pages_.data(), 12};
    share.timeout_ns = 10'000'000'000;
    share.count = load_.commands;
    share.nsid = 1;
    share.block_bytes = kBlockBytes;
    share.opcode = GPUNVME_NVM_OPCODE_READ;
    control_++;
    const uint64_t before = ThreadNs();
    if (counting) serve<CountingPort>(leader_, ++launches_);
    else Serve(leader_, ++launches_);
    const uint64_t ns = ThreadNs() - before;
    for (const uint64_t outcome : outcomes_) {
      if (outcome >> OUTCOME_ENDING_SHIFT != static_cast<uint64_t>(Ending::SUCCESS)) Fail("a command did not succeed");
    }
    return ns;
  }

  uint64_t slbas() const { return device_.slbas; }
  const Report& report() const { return report_; }

 private:
  const Workload load_;
  NullDevice device_;
  std::vector<Slot> slots_;
  std::vector<uint32_t> free_slots_;
  std::vector<Share> shares_;
  std::vector<Active> actives_;
  std::vector<Command> commands_;
  std::vector<uint64_t> outcomes_, pages_, prp_list_pages_, prp_lists_;
  alignas(64) uint64_t control_ = 0;
  Grid grid_{1, 0};
  Report report_{};
  Pair pair_{};
  Leader leader_{};
  uint64_t launches_ = 0;
};

// The device alone: the same number of doorbells and commands, over entries that exist already.
[[gnu::noinline]] void AnswerAlone(NullDevice& device, const Workload& load) {
  for (uint32_t at = 0; at < load.commands; at += load.depth) device.Ring((at + load.depth) % (load.depth + 1));
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
    NullDevice device(load.depth + 1);
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
