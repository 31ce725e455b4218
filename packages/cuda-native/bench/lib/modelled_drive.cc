// Measures the rate of the device code in virtual time, with the access costs of an H100 and a modelled drive. Prints
// one JSON object.
//
//   modelled_drive <commands> <depth> <shortest latency, ns> <longest latency, ns>
//
// A leader is a warp, whose lanes are fibers. Lanes that access memory at the same time wait only once.
//
// Costs, from the GPU checks of 2026-11-23 at 1.98 GHz, of a one-thread leader: 2,577 cycles for a load from host
// memory; 3,505 cycles for a single submission and 982 per submission in a batch of 32, hence 900 per entry and 2,605
// per doorbell. An entry of a lane is assumed to take as long, although other lanes store theirs at the same time. An
// ordered access to GPU memory is assumed to take 500 ns: 32 commands of a warp through gnv::Device, about 30 such
// accesses in sequence, took 16 µs on an H200. The drive starts each command as soon as it fetches it.
#include <cstdio>
#include <cstdlib>
#include <map>
#include <random>
#include <utility>
#include <vector>

#include "cpu_port.cuh"
#include "device/host_leader.h"
#include "fibers/fiber_team.h"
#include "serve.cuh"

namespace gpunvme {
namespace {

// kRingNs includes a fence. The head doorbell needs none, so this is an upper bound for it.
constexpr uint64_t kLoadNs = 1302, kEntryNs = 455, kRingNs = 1316, kLocalNs = 500;

// A warp in virtual time. Each lane has its own clock; when lanes meet, all continue at the latest time.
class ClockedTeam : public FiberTeam {
  // All lanes of a leader always meet together. Two tables: a lane may arrive at the next meeting before another lane
  // has left this one, but not at the meeting after the next.
  static inline uint64_t clocks[kLanes] = {}, arrivals[2][kLanes] = {};
  static inline uint32_t meetings[kLanes] = {};

  template <class Meeting>
  static auto meet(const Meeting& meeting) {
    uint64_t* const arrived = arrivals[meetings[lane()]++ % 2];
    arrived[lane()] = now_ns();
    const auto result = meeting();
    now_ns() = *std::max_element(arrived, arrived + kLanes);
    return result;
  }

 public:
  static uint64_t& now_ns() { return clocks[lane()]; }
  static uint64_t end_ns() { return *std::max_element(clocks, clocks + kLanes); }

  static uint32_t ballot(uint32_t mask, bool value) {
    return meet([&] { return FiberTeam::ballot(mask, value); });
  }
  template <class Word>
  static Word shuffle(uint32_t mask, Word value, uint32_t from) {
    return meet([&] { return FiberTeam::shuffle(mask, value, from); });
  }
  template <class Word>
  static Word shuffle_xor(uint32_t mask, Word value, uint32_t distance) {
    return shuffle(mask, value, lane() ^ distance);
  }
  static uint32_t match(uint32_t mask, uint32_t value) {
    return meet([&] { return FiberTeam::match(mask, value); });
  }
  static void sync_warp(uint32_t mask) { ballot(mask, false); }
};

struct Drive {
  uint32_t entries = 0, head = 0, tail = 0, phase = 1, doorbells[2] = {};
  std::vector<Quad> sq;
  std::vector<uint64_t> cq;
  // Identifiers of commands in flight, by completion time.
  std::multimap<uint64_t, uint32_t> in_flight;
  std::mt19937_64 random{1};
  std::uniform_int_distribution<uint64_t> latency_ns;

  void Fetch(uint64_t now_ns) {
    for (; head != doorbells[0]; head = head + 1 == entries ? 0 : head + 1) {
      in_flight.emplace(now_ns + latency_ns(random), sq[4 * head].word[0] >> 16);
    }
  }
  void Post(uint64_t now_ns) {
    while (!in_flight.empty() && in_flight.begin()->first <= now_ns) {
      cq[2 * tail + 1] = uint64_t{phase} << 48 | uint64_t{in_flight.begin()->second} << 32 | HostLeader::kQid << 16 | head;
      in_flight.erase(in_flight.begin());
      tail = tail + 1 == entries ? 0 : tail + 1;
      if (tail == 0) phase ^= 1;
    }
  }
};

Drive drive;
const HostLeader* host;

struct ModelPort : CpuPort {
  static void store16(void* at, const Quad& quad) {
    take(kEntryNs / 4);
    CpuPort::store16(at, quad);
  }
  static void mmio_store32(uint32_t* at, uint32_t value) {
    *at = value;
    take(kRingNs);
    if (at == drive.doorbells) drive.Fetch(now_ns());
  }
  static uint64_t load_completion64(const uint64_t* at) {
    take(kLoadNs);
    drive.Post(now_ns());
    return *at;
  }
  static uint64_t load_relaxed64(const uint64_t* at) {
    take(host->is_local(at) ? kLocalNs : kLoadNs);
    return *at;
  }
  static uint64_t load_acquire64(const uint64_t* at) {
    take(kLoadNs);
    return *at;
  }

  // Words in GPU memory.
  static uint32_t load_relaxed32(const uint32_t* at) {
    take(kLocalNs);
    return *at;
  }
  static uint32_t load_acquire32_gpu(const uint32_t* at) { return load_relaxed32(at); }
  static uint64_t load_acquire64_gpu(const uint64_t* at) {
    take(kLocalNs);
    return *at;
  }
  static void store_release32(uint32_t* at, uint32_t value) { exchange32_gpu(at, value); }
  static void store_release64_gpu(uint64_t* at, uint64_t value) {
    take(kLocalNs);
    *at = value;
  }
  static void fence_acquire() { take(kLocalNs); }
  static uint32_t add32_gpu(uint32_t* at, uint32_t value) { return exchange32_gpu(at, *at + value); }
  static uint32_t add32_relaxed_gpu(uint32_t* at, uint32_t value) { return add32_gpu(at, value); }
  static uint32_t exchange32_gpu(uint32_t* at, uint32_t value) {
    take(kLocalNs);
    return std::exchange(*at, value);
  }
  static uint32_t cas32_gpu(uint32_t* at, uint32_t expected, uint32_t value) {
    return exchange32_gpu(at, *at == expected ? value : *at);
  }
  static uint64_t cas64_gpu(uint64_t* at, uint64_t expected, uint64_t value) {
    take(kLocalNs);
    return std::exchange(*at, *at == expected ? value : *at);
  }

  static uint64_t now_ns() { return ClockedTeam::now_ns(); }
  static void relax(uint32_t) {}
  static void wake_host(void*) {}

 private:
  static void take(uint64_t ns) { ClockedTeam::now_ns() += ns; }
};

}  // namespace

void CpuPort::wake_host(void*) {}

}  // namespace gpunvme

int main(int, char** args) {
  using namespace gpunvme;
  const auto number = [&](int index) { return static_cast<uint32_t>(std::atoi(args[index])); };
  const uint32_t count = number(1), depth = number(2);
  drive.entries = HostLeader::entries_for(depth);
  drive.sq.resize(4 * drive.entries);
  drive.cq.resize(2 * drive.entries);
  drive.latency_ns = std::uniform_int_distribution<uint64_t>(number(3), number(4));
  HostLeader engine(drive.sq.data(), drive.cq.data(), drive.doorbells, depth, 8);
  host = &engine;
  engine.post(count);
  run_fibers({}, [&] { serve<ClockedTeam, ModelPort>(engine.leader, 1); });
  std::printf("{\"succeeded\":%u,\"ns\":%llu,\"doorbellWrites\":%llu}\n", engine.succeeded(),
              static_cast<unsigned long long>(ClockedTeam::end_ns()),
              static_cast<unsigned long long>(engine.report.doorbell_writes));
}
