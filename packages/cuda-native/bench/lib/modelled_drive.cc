// Measures the rate of the device code in virtual time, with the access costs of an H100 and a modelled drive. Prints one JSON
// object.
//
//   modelled_drive <commands> <depth> <shortest latency, ns> <longest latency, ns>
//
// Costs, from the GPU checks of 2026-11-23 at 1.98 GHz: 2,577 cycles for a load from host memory; 3,505 cycles for a single
// submission and 982 per submission in a batch of 32, hence 900 per entry and 2,605 per doorbell. The drive starts each command
// as soon as it fetches it.
#include <cstdio>
#include <cstdlib>
#include <map>
#include <random>
#include <vector>

#include "cpu_port.cuh"
#include "serve.cuh"

namespace gpunvme {
namespace {

// The head doorbell needs no fence, so this is an upper bound for it.
constexpr uint64_t kLoadNs = 1302, kEntryNs = 455, kRingNs = 1316;

struct Drive {
  uint64_t now_ns = 0;
  uint32_t entries = 0, head = 0, tail = 0, phase = 1, doorbells[2] = {};
  std::vector<Quad> sq;
  std::vector<uint64_t> cq;
  // Identifiers of commands in flight, by completion time.
  std::multimap<uint64_t, uint32_t> in_flight;
  std::mt19937_64 random{1};
  std::uniform_int_distribution<uint64_t> latency_ns;

  void Fetch() {
    for (; head != doorbells[0]; head = head + 1 == entries ? 0 : head + 1) {
      in_flight.emplace(now_ns + latency_ns(random), sq[4 * head].word[0] >> 16);
    }
  }
  void Post() {
    while (!in_flight.empty() && in_flight.begin()->first <= now_ns) {
      cq[2 * tail + 1] = uint64_t{phase} << 48 | uint64_t{in_flight.begin()->second} << 32 | 1u << 16 | head;
      in_flight.erase(in_flight.begin());
      tail = tail + 1 == entries ? 0 : tail + 1;
      if (tail == 0) phase ^= 1;
    }
  }
};

Drive drive;

struct ModelPort : CpuPort {
  // As in gpu_port.cuh.
  static constexpr uint32_t PATIENT_POLLS = 16;
  static void store16(void* at, const Quad& quad) {
    drive.now_ns += kEntryNs / 4;
    CpuPort::store16(at, quad);
  }
  static void mmio_store32(uint32_t* at, uint32_t value) {
    *at = value;
    drive.now_ns += kRingNs;
    if (at == drive.doorbells) drive.Fetch();
  }
  static uint64_t load_completion64(const uint64_t* at) {
    drive.now_ns += kLoadNs;
    drive.Post();
    return *at;
  }
  static uint64_t load_relaxed64(const uint64_t* at) {
    drive.now_ns += kLoadNs;
    return *at;
  }
  static uint64_t now_ns() { return drive.now_ns; }
  static void relax(uint32_t) {}
  static void wake_host(void*) {}
};

}  // namespace

void CpuPort::wake_host(void*) {}

}  // namespace gpunvme

int main(int, char** args) {
  using namespace gpunvme;
  const auto number = [&](int index) { return static_cast<uint32_t>(std::atoi(args[index])); };
  const uint32_t count = number(1), depth = number(2);
  drive.entries = depth + 1;
  drive.sq.resize(4 * drive.entries);
  drive.cq.resize(2 * drive.entries);
  drive.latency_ns = std::uniform_int_distribution<uint64_t>(number(3), number(4));
  std::vector<Slot> slots(depth);
  std::vector<uint32_t> free_slots(depth);
  std::vector<Share> shares(SHARES);
  std::vector<Active> actives(SHARES);
  std::vector<Command> commands(count);
  std::vector<uint64_t> outcomes(count);
  const uint64_t iova = 1ULL << 32, control = 1 | CONTROL_STOP;
  for (uint32_t at = 0; at < count; at++) commands[at] = {8ULL * at, 4096ULL * (at % depth), 8, at};
  for (uint32_t slot = 0; slot < depth; slot++) free_slots[slot] = slot;
  shares[0] = {commands.data(), outcomes.data(), {&iova, 63}, 10'000'000'000, count, 1, 512, GPUNVME_NVM_OPCODE_READ, 0, 0};
  Report report{};
  Grid grid{1, 0};
  Pair pair{};
  pair.sq = drive.sq.data();
  pair.tail_doorbell = &drive.doorbells[0];
  pair.page_bytes = 4096;
  pair.slots = slots.data();
  pair.free_slots = free_slots.data();
  pair.shares = shares.data();
  pair.control = &control;
  pair.active = actives.data();
  pair.qid = 1;
  pair.sq_entries = drive.entries;
  pair.slot_count = pair.free_count = depth;
  while (1u << pair.slot_bits < depth) pair.slot_bits++;
  Leader leader{};
  leader.cq = drive.cq.data();
  leader.head_doorbell = &drive.doorbells[1];
  leader.pairs = &pair;
  leader.report = &report;
  leader.grid = &grid;
  leader.pair_count = 1;
  leader.cq_entries = drive.entries;
  leader.phase = 1;
  leader.next_deadline_ns = NO_DEADLINE;
  serve<ModelPort>(leader, 1);
  uint64_t succeeded = 0;
  for (const uint64_t outcome : outcomes) succeeded += outcome >> OUTCOME_ENDING_SHIFT == GNV_SUCCESS;
  std::printf("{\"succeeded\":%llu,\"ns\":%llu,\"doorbellWrites\":%llu}\n", static_cast<unsigned long long>(succeeded),
              static_cast<unsigned long long>(drive.now_ns), static_cast<unsigned long long>(report.doorbell_writes));
}
