// A session as used by an engine, without Node. This thread posts, cancels and polls plans, an executor runs leaders,
// and another thread runs models of controllers. `session_test SEED ROUNDS`: each round uses the queues in one session,
// and then passes them to the next.
//
// session_over_standin_test.cc defines OVER_STANDIN.
#include "engine/session.h"

#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <thread>

#include "device/model_controller.h"
#include "engine/run_table.h"
#include "engine/waker.h"
#include "leader.cuh"
#ifdef OVER_STANDIN
#include "cpu_port.cuh"
#include "engine/cuda_executor.h"
#include "serve.cuh"
#include "solo_team.cuh"
#include "standin/kernels.h"
#else
#include "engine/cpu_executor.h"
#endif

namespace {
std::atomic<uint64_t> gWakes{0};
}

void gpunvme::Waker::Wake() { gWakes++; }

#ifdef OVER_STANDIN
// With a GPU, the host polls.
void gpunvme::CpuPort::wake_host(void*) {}

// The only kernel of the stand-in in this program.
standin::Kernel standin::FindKernel(const char* name) {
  if (std::string(name) != "gpunvme_serve") return nullptr;
  return [](void** parameters, Extent grid, Extent) {
    auto* leaders = *static_cast<gpunvme::Leader**>(parameters[0]);
    const uint64_t launch = *static_cast<uint64_t*>(parameters[1]);
    OnThreads(grid, [&](unsigned block) { gpunvme::serve<gpunvme::SoloTeam, gpunvme::CpuPort>(leaders[block], launch); });
  };
}

// The stand-in is linked into this program instead of loaded.
namespace gpunvme::cuda {
#define DECLARED(name, parameters) extern "C" Result name parameters;
GPUNVME_CUDA_FUNCTIONS(DECLARED)
#undef DECLARED
#define NAMED(name, parameters) name,
#define ABSENT(name, parameters) nullptr,
static constexpr Functions kStandin{GPUNVME_CUDA_FUNCTIONS(NAMED) GPUNVME_CUDA_OPTIONAL_FUNCTIONS(ABSENT)};
#undef ABSENT
#undef NAMED

// This program does not close sessions of the driver.
void Drop(Session& session) { session.holds--; }
}  // namespace gpunvme::cuda
#endif

namespace model {
namespace {

using namespace gpunvme;

constexpr uint32_t kQueues = 4;
constexpr uint32_t kNsid = 7, kPageBytes = 64, kBlockBytes = 16, kListPages = 3;
// Queues alternate between full rings and rings with a free entry.
constexpr uint32_t kEntries = 4, kInFlight[] = {3, 2}, kSlotBits = 2;
constexpr uint32_t kMemoryBytes = 1 << 20, kRunShift = 12, kPage = 4096;
// Maximum number of commands of one round and queue.
constexpr uint32_t kBudget = 500;
constexpr uint64_t kForEver = (1ULL << 53) - 1, kLimitNs = 60'000'000'000;
constexpr uint32_t kPatience = 20'000'000;

// Whole pages, as required for registration with a driver.
template <typename T>
struct Pages {
  explicit Pages(size_t count)
      : bytes((count * sizeof(T) + kPage - 1) / kPage * kPage), at(static_cast<T*>(std::aligned_alloc(kPage, bytes))) {
    memset(static_cast<void*>(at), 0, bytes);
  }
  ~Pages() { std::free(at); }
  Pages(const Pages&) = delete;
  Memory memory() const { return {reinterpret_cast<uintptr_t>(at), bytes, false}; }

  const size_t bytes;
  T* const at;
};

// Creates executors.
#ifdef OVER_STANDIN
class Backend {
 public:
  Backend() {
    const char* kernels = ".version 8.2\n.entry gpunvme_serve(.param .u64 leader, .param .u64 launch)";
    cuda::Context context;
    cuda::Module module;
    must(api_.cuInit(0));
    must(api_.cuDevicePrimaryCtxRetain(&context, 0));
    must(api_.cuCtxSetCurrent(context));
    must(api_.cuModuleLoadDataEx(&module, kernels, 0, nullptr, nullptr));
    must(api_.cuModuleGetFunction(&serve_, module, "gpunvme_serve"));
    session_.reset(new cuda::Session{api_, 0, 0, context, 1});
  }
  ~Backend() { REQUIRE(session_->holds == 0, "%u executors hold the GPU", session_->holds); }
  std::shared_ptr<Executor> make() { return std::make_shared<CudaExecutor>(*session_, serve_); }
  // The driver registers only pages of registers that are present, and a controller's kernel driver may map them at their
  // first access.
  void reach() {
    auto executor = make();
    constexpr size_t kBytes = 3 * kPage;
    const auto reached = [&](void* pages, bool registers) {
      const auto address = reinterpret_cast<uintptr_t>(pages) + 8;
      uint64_t device = 0;
      REQUIRE(!executor->Reach(address, 2 * kPage, registers, &device) && device != 0, "not reached");
      executor->Forget(address);
    };
    void* memory = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    void* registers = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    reached(memory, false);
    char file[] = "/tmp/gpunvme-session-XXXXXX";
    const int fd = mkstemp(file);
    const auto start = reinterpret_cast<uintptr_t>(registers);
    REQUIRE(dprintf(fd, "%zx-%zx rw-s 0 00:16 1 resource0\nVmFlags: rd wr sh pf io\n", start, start + kBytes) > 0, "smaps");
    setenv("GPUNVME_STANDIN_SMAPS", file, 1);
    must(api_.cuInit(0));
    reached(registers, true);
    unsetenv("GPUNVME_STANDIN_SMAPS");
    must(api_.cuInit(0));
    close(fd);
    unlink(file);
    munmap(memory, kBytes);
    munmap(registers, kBytes);
    executor->End();
  }
  // Makes other calls of the driver meanwhile, in which the stand-in waits for all kernels.
  void disturb() {
    const cuda::Parked parked(*session_->parking);
    // Leaders may not park in time if controllers are slow.
    if (!parked.ok()) return;
    cuda::DevicePointer memory = 0;
    must(api_.cuMemAlloc_v2(&memory, 64));
    must(api_.cuMemFree_v2(memory));
  }

 private:
  static void must(int result) { REQUIRE(result == 0, "the stand-in answers %d", result); }

  const cuda::Functions& api_ = cuda::kStandin;
  cuda::Function serve_ = nullptr;
  std::unique_ptr<cuda::Session> session_;
};
#else
class Backend {
 public:
  std::shared_ptr<Executor> make() { return std::make_shared<CpuExecutor>(); }
  void reach() {}
  void disturb() {}
};
#endif

// A queue pair and its controller.
struct Rings {
  explicit Rings(uint32_t slots) : in_flight(slots), lists(slots * kListPages * kPageBytes) {}
  const uint32_t in_flight;
  Pages<uint64_t> cq{2 * kEntries};
  Pages<uint32_t> sq{16 * kEntries};
  Pages<uint8_t> lists;
  std::vector<uint64_t> list_iovas;
  std::vector<uint16_t> generations;
  // Generation of the next command of each slot, according to the entries that the controller has fetched.
  std::vector<uint16_t> next;
  Controller controller;

  // Identifiers continue from session to session, without a gap.
  void fetch() {
    controller.fetch(0);
    const uint32_t cid = controller.outstanding.back().cid, slot = cid & ((1u << kSlotBits) - 1);
    REQUIRE(slot < in_flight, "CID 0x%x of %u slots", cid, in_flight);
    const uint32_t expected = (next[slot]++ << kSlotBits | slot) & 0xffff;
    REQUIRE(cid == expected, "CID 0x%x, expected 0x%x", cid, expected);
  }
};

struct Sent {
  uint32_t queue;
  // Index in `expected` of the queue's controller.
  uint32_t index;
  uint64_t offset;
  uint32_t blocks;
};

struct Posted {
  bool read;
  bool cancelled = false;
  std::vector<Sent> commands;
};

class Host {
 public:
  Host(uint64_t seed, Backend& backend) : random_(seed), backend_(backend), registers_(2 * kQueues), memory_(kMemoryBytes) {
    for (uint32_t queue = 0; queue < kQueues; queue++) {
      auto& rings = *rings_.emplace_back(std::make_unique<Rings>(kInFlight[queue % 2]));
      Controller& controller = rings.controller;
      controller.page_bytes = kPageBytes;
      controller.block_bytes = kBlockBytes;
      controller.cq = rings.cq.at;
      controller.cq_entries = kEntries;
      controller.head_doorbell = registers_.at + head(queue);
      controller.sqs.push_back({qid(queue), rings.sq.at, kEntries, registers_.at + tail(queue), (1u << kSlotBits) - 1});
      for (uint64_t run = 0; run < kMemoryBytes >> kRunShift; run++) {
        const uint64_t iova = 0x7f0000000000 + (kMemoryBytes - (run << kRunShift));
        controller.ranges.push_back({iova, 1 << kRunShift, memory_.at + (run << kRunShift)});
        if (queue == 0) iovas_.push_back(iova);
      }
      for (uint32_t page = 0; page < rings.in_flight * kListPages; page++) {
        rings.list_iovas.push_back(0x100000000 + page * kPageBytes);
        controller.ranges.push_back({rings.list_iovas.back(), kPageBytes, rings.lists.at + page * kPageBytes});
      }
      // Some start just before the wrap-around at 2^14.
      for (uint32_t slot = 0; slot < rings.in_flight; slot++) rings.generations.push_back(static_cast<uint16_t>(random_.once_in(2) ? -5 : random_.next()));
      rings.next = rings.generations;
      layouts_.push_back({rings.sq.memory(), rings.cq.memory(), rings.lists.memory(), nullptr, qid(queue), kEntries, 0, 0, 1,
                          rings.in_flight, kListPages * kPageBytes, kPageBytes, 4 * tail(queue), 4 * head(queue),
                          rings.generations.data()});
    }
  }

  // Runs one session. Returns false if its queues cannot be used again.
  bool round() {
    static constexpr uint64_t kLingers[] = {0, 0, 2000, 200'000, kForEver};
    // Counts of plans pass 2^32 within a round.
    static constexpr uint64_t kRunLimits[] = {0, 0, 1, 100'000};
    const LeaderOptions options = {kLingers[random_.below(5)], reinterpret_cast<uintptr_t>(clock_.at),
                                    random_.once_in(2) ? 0xfffffff0 + random_.below(16) : 0,
                                    kRunLimits[random_.below(4)], random_.once_in(2)};
    auto executor = backend_.make();
    executor->Wakes(&waker_);
    Session session(std::move(executor), options, &waker_);
    Random at_controllers(random_.next());
    bool stop = false;
    std::thread controllers([&] {
      while (!load(&stop)) serve(at_controllers);
    });
    bool lost = false;
    // A session can attach queues again after it has detached them.
    for (uint32_t times = 1 + random_.below(2); times > 0 && !lost; times--) {
      begin(session);
      lost = work(session);
      end(session, lost);
    }
    __atomic_store_n(&stop, true, __ATOMIC_RELEASE);
    controllers.join();
    if (!lost) check_positions();
    return !lost;
  }

 private:
  static uint16_t qid(uint32_t queue) { return static_cast<uint16_t>(1 + (queue + 2) % kQueues); }
  static uint32_t tail(uint32_t queue) { return 2 * queue; }
  static uint32_t head(uint32_t queue) { return 2 * queue + 1; }

  void must(const Problem& problem) { REQUIRE(!problem, "%s: %s (%s)", problem.call.c_str(), problem.text.c_str(), problem.name.c_str()); }

  void begin(Session& session) {
    // SLBAs and memory of the previous use are free again.
    for (auto& rings : rings_) {
      rings->controller.known = 0;
      for (Expected& each : rings->controller.expected) each = {};
    }
    used_ = 0;
    for (uint32_t queue = 0; queue < kQueues; queue++) {
      const Rings& rings = *rings_[queue];
      const std::vector<uint64_t>& lists = rings.list_iovas;
      must(session.Describe(lists, __builtin_ctz(kPageBytes), lists.size() * kPageBytes, &layouts_[queue].prp_list_runs));
    }
    must(session.Attach(registers_.memory(), true, layouts_));
    must(session.Describe(iovas_, kRunShift, kMemoryBytes, &table_));
  }

  void serve(Random& random) {
    Rings& rings = *rings_[random.below(kQueues)];
    Controller& controller = rings.controller;
    if (controller.announced(controller.sqs[0]) > 0) {
      rings.fetch();
    } else if (!controller.outstanding.empty() && controller.room() > 0) {
      controller.complete(random.below(controller.outstanding.size()), random.once_in(8) ? 0x0007 : 0);
    } else {
      sched_yield();
    }
  }

  // Posts and cancels plans until the budget is used up or the queues are halted. Returns whether the queues are lost.
  bool work(Session& session) {
    const uint32_t halt_after = random_.once_in(4) ? random_.below(60) : ~0u;
    const bool lost = random_.once_in(2);
    uint32_t turns = 0;
    for (uint32_t plans = 0; plans < 120; turns++) {
      REQUIRE(turns < kPatience, "the host waits forever for room");
      if (plans == halt_after) {
        halted_ = true;
        lost_ = lost;
        session.Halt(lost);
        break;
      }
      if (!random_.once_in(3) && post(session)) plans++;
      if (random_.once_in(8) && !posted_.empty()) {
        auto each = std::next(posted_.begin(), random_.below(posted_.size()));
        each->second.cancelled = true;
        session.Cancel(each->first);
      }
      if (random_.once_in(2)) poll(session);
      if (random_.once_in(16)) sched_yield();
      if (random_.once_in(16)) backend_.disturb();
    }
    return halted_ && lost_;
  }

  bool post(Session& session) {
    const auto count = 1 + random_.below(12);
    const bool read = random_.once_in(2);
    std::vector<double> slba, offset;
    std::vector<uint32_t> blocks;
    std::vector<uint16_t> queue;
    Posted sent{read, false, {}};
    uint64_t used = used_;
    std::vector<uint32_t> known;
    for (auto& rings : rings_) known.push_back(rings->controller.known);
    for (uint32_t at = 0; at < count; at++) {
      const uint32_t to = random_.below(kQueues);
      const uint32_t some = 1 + random_.below(20);
      if (known[to] == kBudget || used + some * kBlockBytes > kMemoryBytes) return true;
      Controller& controller = rings_[to]->controller;
      const uint64_t lba = controller.first_slba + known[to];
      slba.push_back(static_cast<double>(lba));
      offset.push_back(static_cast<double>(used));
      blocks.push_back(some);
      queue.push_back(static_cast<uint16_t>(to));
      sent.commands.push_back({to, known[to], used, some});
      controller.expected[known[to]++] = {0, read ? GPUNVME_NVM_OPCODE_READ : GPUNVME_NVM_OPCODE_WRITE, kNsid, some, used};
      for (uint32_t byte = 0; byte < some * kBlockBytes; byte += 4) {
        const uint32_t word = read ? 0xa5a5a5a5 : pattern(lba, byte);
        memcpy(memory_.at + used + byte, &word, 4);
      }
      used += some * kBlockBytes;
    }
    const Plan plan = {read ? GPUNVME_NVM_OPCODE_READ : GPUNVME_NVM_OPCODE_WRITE, kNsid, kBlockBytes, count,
                       slba.data(), blocks.data(), offset.data(), queue.data(), 1000};
    // The controller cannot fetch these commands before the plan is posted. If it is not posted, they are dropped.
    for (uint32_t to = 0; to < kQueues; to++) __atomic_store_n(&rings_[to]->controller.known, known[to], __ATOMIC_RELEASE);
    bool posted = false;
    must(session.Post(next_id_, plan, table_, &posted));
    if (!posted) {
      // Their SLBAs stay unused.
      used_ = used;
      return false;
    }
    posted_.emplace(next_id_++, std::move(sent));
    used_ = used;
    return true;
  }

  void poll(Session& session) {
    std::vector<Finished> finished;
    must(session.Poll(&finished));
    for (const Finished& each : finished) judge(each);
  }

  void judge(const Finished& finished) {
    const auto found = posted_.find(finished.id);
    REQUIRE(found != posted_.end(), "plan %u is done, which was not posted, or twice", finished.id);
    const Posted& plan = found->second;
    std::map<uint32_t, uint64_t> failures;
    for (const Failure& failure : finished.failures) failures[failure.command] = failure.outcome;
    REQUIRE(failures.size() + finished.succeeded == plan.commands.size(), "plan %u: outcomes", finished.id);
    double bytes = 0;
    for (uint32_t at = 0; at < plan.commands.size(); at++) {
      const Sent& sent = plan.commands[at];
      const Expected& expected = rings_[sent.queue]->controller.expected[sent.index];
      const auto failure = failures.find(at);
      const uint64_t outcome = failure == failures.end() ? 0 : failure->second;
      if (failure == failures.end()) {
        bytes += sent.blocks * kBlockBytes;
        REQUIRE(expected.completed && expected.status == 0, "plan %u command %u: no such completion", finished.id, at);
        for (uint32_t byte = 0; byte < sent.blocks * kBlockBytes; byte += 4) {
          uint32_t word;
          memcpy(&word, memory_.at + sent.offset + byte, 4);
          REQUIRE(word == pattern(rings_[sent.queue]->controller.first_slba + sent.index, byte), "wrong data");
        }
      } else if (outcome == 0) {
        REQUIRE(plan.cancelled || halted_, "plan %u command %u: it should have been submitted", finished.id, at);
      } else if (outcome >> OUTCOME_ENDING_SHIFT == static_cast<uint64_t>(Ending::LOST)) {
        REQUIRE(lost_, "plan %u command %u: the device is there", finished.id, at);
      } else {
        REQUIRE(outcome >> OUTCOME_ENDING_SHIFT == static_cast<uint64_t>(Ending::STATUS) && expected.completed &&
                    expected.status == (outcome & 0x7fff),
                "plan %u command %u: no such completion", finished.id, at);
      }
    }
    REQUIRE(bytes == finished.bytes, "plan %u: %f bytes", finished.id, finished.bytes);
    posted_.erase(found);
  }

  void end(Session& session, bool lost) {
    for (uint32_t turns = 0; !posted_.empty(); turns++) {
      REQUIRE(turns < kPatience, "the host waits for outcomes that do not come");
      poll(session);
      sched_yield();
    }
    must(session.Detach(kLimitNs, &layouts_));
    if (lost) return;
    REQUIRE(session.counters().commands > 0 || halted_, "nothing was submitted");
    REQUIRE(session.counters().stale == 0, "%llu completions of no command", static_cast<ull>(session.counters().stale));
    table_.reset();
    for (QueueLayout& layout : layouts_) layout.prp_list_runs.reset();
    halted_ = false;
  }

  void check_positions() const {
    for (uint32_t queue = 0; queue < kQueues; queue++) {
      const QueueLayout& layout = layouts_[queue];
      const Controller& controller = rings_[queue]->controller;
      const uint32_t head_rung = load(registers_.at + head(queue)), tail_rung = load(registers_.at + tail(queue));
      REQUIRE(layout.cq_head == head_rung, "CQ: head %u, doorbell %u", layout.cq_head, head_rung);
      REQUIRE(layout.phase == controller.cq_phase, "CQ: phase %u, the controller's is %u", layout.phase, controller.cq_phase);
      REQUIRE(layout.sq_tail == tail_rung, "SQ: tail %u, doorbell %u", layout.sq_tail, tail_rung);
    }
  }

  Random random_;
  Backend& backend_;
  Waker waker_;
  Pages<uint64_t> clock_{1};
  Pages<uint32_t> registers_;
  Pages<uint8_t> memory_;
  std::vector<uint64_t> iovas_;
  std::vector<std::unique_ptr<Rings>> rings_;
  std::vector<QueueLayout> layouts_;
  std::shared_ptr<RunTable> table_;
  std::map<uint32_t, Posted> posted_;
  // Identifiers of plans pass 2^32 too.
  uint32_t next_id_ = 0xffffffc0;
  uint64_t used_ = 0;
  bool halted_ = false;
  bool lost_ = false;
};

}  // namespace
}  // namespace model

int main(int, char** args) {
  static const uint64_t seed = strtoull(args[1], nullptr, 10);
  model::explain = [] { fprintf(stderr, "seed %llu\n", static_cast<unsigned long long>(seed)); };
  model::Backend backend;
  backend.reach();
  std::unique_ptr<model::Host> host;
  for (uint64_t round = 0; round < strtoull(args[2], nullptr, 10); round++) {
    if (host == nullptr) host = std::make_unique<model::Host>(seed + 1000 * round, backend);
    if (!host->round()) host.reset();
  }
  REQUIRE(gWakes > 0, "nobody was woken");
}
