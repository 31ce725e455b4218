// `warp_read_test SEED SLOTS`: a warp on fibers reads two plans from a controller that takes its turns between polls, and
// fetches entries the moment their doorbell is rung. Prints how many commands there were, and doorbells for them.
#include "warp_read.cuh"

#include <map>
#include <utility>

#include "fibers/fiber_team.h"

using namespace gpunvme;

constexpr uint64_t kPage = 4096, kBlock = 512, kPages = 512, kDataIova = 0x100000000, kListIova = 0x800000000;
constexpr uint32_t kQid = 3, kNsid = 7, kRead = 0x02;

static std::mt19937_64 numbers;
static uint64_t below(uint64_t limit) { return numbers() % limit; }

template <class... Facts>
[[noreturn]] static void wrong(const char* format, Facts... facts) {
  printf(format, facts...);
  printf("\n");
  exit(1);
}

static uint64_t word_at(uint64_t byte) { return (byte / 8 + 1) * 0x9e3779b97f4a7c15; }

struct Controller {
  std::vector<Quad> sq;
  std::vector<uint64_t> cq;
  std::vector<uint64_t> lists;
  // By iova.
  std::vector<uint64_t> data = std::vector<uint64_t>(kPages * kPage / 8, ~0ull);
  uint32_t doorbells[2] = {0, 0};
  uint32_t rings = 0, head = 0, tail = 0, phase = 1, list_bytes = 0;
  bool unfenced = false;
  std::map<uint32_t, uint16_t> pending;

  void transfer(uint64_t iova, uint64_t bytes, uint64_t& from) {
    if (iova < kDataIova || iova + bytes > kDataIova + kPages * kPage) wrong("data at %llx", (unsigned long long)iova);
    for (uint64_t i = 0; i < bytes; i += 8, from += 8) data[(iova - kDataIova + i) / 8] = word_at(from);
  }

  void read(const Quad* entry) {
    const auto* dwords = &entry->word[0];
    const auto qword = [&](uint32_t i) { return dwords[i] | static_cast<uint64_t>(dwords[i + 1]) << 32; };
    if ((dwords[0] & 0xffff) != kRead || dwords[1] != kNsid) wrong("no command: %08x %08x", dwords[0], dwords[1]);
    const uint32_t cid = dwords[0] >> 16;
    uint64_t from = qword(10) * kBlock, left = ((dwords[12] & 0xffff) + 1) * kBlock;
    const bool bad = qword(10) % 13 == 0;
    if (!pending.emplace(cid, bad ? 0x281 : 0).second) wrong("two commands with CID %04x", cid);
    if (bad) return;

    const uint64_t first = std::min(left, kPage - qword(6) % kPage);
    transfer(qword(6), first, from);
    left -= first;
    if (left > kPage) {
      const uint64_t* list = &lists.at((qword(8) - kListIova) / 8);
      for (; left > 0; left -= std::min(left, kPage)) transfer(*list++, std::min(left, kPage), from);
    } else if (left > 0) {
      transfer(qword(8), left, from);
    }
  }

  void ring(uint32_t* at, uint32_t value) {
    if (at == &doorbells[1]) return;
    if (unfenced) wrong("a doorbell before the fence");
    rings++;
    const uint32_t entries = static_cast<uint32_t>(sq.size() / 4);
    if (value >= entries) wrong("SQ Tail %u of %u", value, entries);
    for (; head != value; head = (head + 1) % entries) {
      read(&sq[head * 4]);
      std::fill_n(&sq[head * 4], 4, Quad{{~0u, ~0u, ~0u, ~0u}});
    }
  }

  // Completes some of what is pending, in any order.
  void turn() {
    for (uint64_t count = below(4); count > 0 && !pending.empty(); count--) {
      const auto one = std::next(pending.begin(), static_cast<ptrdiff_t>(below(pending.size())));
      cq[tail * 2] = 0;
      cq[tail * 2 + 1] = head | kQid << 16 | static_cast<uint64_t>(one->first) << 32 |
                         static_cast<uint64_t>(one->second << 1 | phase) << 48;
      pending.erase(one);
      if (++tail == cq.size() / 2) tail = 0, phase ^= 1;
    }
  }
};

static Controller controller;

struct FiberPort {
  static constexpr uint32_t PATIENT_POLLS = 16;
  static void store16(void* at, const Quad& quad) {
    controller.unfenced = true;
    *static_cast<Quad*>(at) = quad;
  }
  static void store64(uint64_t* at, uint64_t value) {
    controller.unfenced = true;
    *at = value;
  }
  static void fence() { controller.unfenced = false; }
  static void mmio_store32(uint32_t* at, uint32_t value) { controller.ring(at, value); }
  static uint64_t load_completion64(const uint64_t* at) { return *at; }
  static uint64_t load_acquire64(const uint64_t* at) { return *at; }
  static uint64_t load_relaxed64(const uint64_t* at) { return *at; }
  static void store_relaxed64(uint64_t* at, uint64_t value) { *at = value; }
  static void store_release64(uint64_t* at, uint64_t value) { *at = value; }
  static uint64_t cas64_gpu(uint64_t* at, uint64_t, uint64_t value) { return std::exchange(*at, value); }
  static uint64_t now_ns() { return 1000; }
  static void relax(uint32_t) { FiberBlock::now().pause(); }
  static void wake_host(void*) {}
};

// Offsets in the plans' memory, a page each, in the order that the controller does not know.
static std::vector<uint64_t> pages_of_memory() {
  std::vector<uint64_t> iovas(kPages);
  for (uint64_t i = 0; i < kPages; i++) iovas[i] = kDataIova + i * kPage;
  std::shuffle(iovas.begin(), iovas.end(), numbers);
  return iovas;
}

int main(int, char** args) {
  const uint64_t seed = strtoull(args[1], nullptr, 10);
  const uint32_t slots = static_cast<uint32_t>(strtoul(args[2], nullptr, 10));
  numbers.seed(seed);
  const uint32_t sq_entries = slots + 1 + static_cast<uint32_t>(below(3)), cq_entries = slots + 2;
  controller.sq.assign(sq_entries * 4, Quad{{~0u, ~0u, ~0u, ~0u}});
  controller.cq.assign(cq_entries * 2, 0);
  controller.lists.assign(slots * kPage / 8, ~0ull);

  // Commands that fill the memory, each from somewhere else, and cross pages as they like.
  const std::vector<uint64_t> iovas = pages_of_memory();
  std::vector<Command> commands;
  for (uint64_t at = 0; at < kPages * kPage;) {
    const uint64_t blocks = std::min(1 + below(40), (kPages * kPage - at) / kBlock);
    commands.push_back({below(1 << 30), at, static_cast<uint32_t>(blocks), static_cast<uint32_t>(commands.size())});
    at += blocks * kBlock;
  }
  const uint32_t count = static_cast<uint32_t>(commands.size()), half = count / 2 + 3;
  std::vector<uint64_t> outcomes(count, 0);
  std::vector<Share> shares(SHARES);
  const Runs memory = {iovas.data(), 12};
  shares[0] = {commands.data(), outcomes.data(), memory, 1'000'000, half, kNsid, kBlock, kRead, 0, 0};
  shares[1] = shares[0];
  shares[1].commands += half;
  shares[1].count = count - half;

  std::vector<Slot> slot_table(slots, Slot{});
  std::vector<uint32_t> free_slots(slots);
  std::iota(free_slots.begin(), free_slots.end(), 0);
  std::vector<Active> active(SHARES, Active{});
  const uint64_t control = 2 | CONTROL_STOP;
  Pair pair = {};
  pair.sq = controller.sq.data();
  pair.tail_doorbell = &controller.doorbells[0];
  pair.prp_lists = controller.lists.data();
  pair.prp_list_runs = {&kListIova, 63};
  pair.prp_list_bytes = pair.page_bytes = kPage;
  pair.slots = slot_table.data();
  pair.free_slots = free_slots.data();
  pair.shares = shares.data();
  pair.control = &control;
  pair.active = active.data();
  pair.qid = kQid;
  pair.sq_entries = sq_entries;
  pair.slot_count = pair.free_count = slots;
  while (1u << pair.slot_bits < slots) pair.slot_bits++;
  Report report = {};
  Grid grid = {1, 0};
  Leader leader = {};
  leader.grid = &grid;
  leader.cq = controller.cq.data();
  leader.head_doorbell = &controller.doorbells[1];
  leader.pairs = &pair;
  leader.report = &report;
  leader.pair_count = 1;
  leader.cq_entries = cq_entries;
  leader.phase = 1;
  leader.next_deadline_ns = NO_DEADLINE;

  FiberLaunch launch;
  launch.seed = seed;
  launch.between = [] { controller.turn(); };
  run_fibers(launch, [&] { warp_read<FiberTeam, FiberPort>(leader, 1); });

  if (report.ended != 1 || report.stale != 0 || shares[0].done != 1 || shares[1].done != 1) wrong("not done");
  for (const Command& command : commands) {
    const bool bad = command.slba % 13 == 0;
    const uint64_t outcome = outcomes[command.index] & ~0xffff0000ull;
    if (outcome != (bad ? 0x200000281 : 0x100000000))
      wrong("outcome of %u: %llx", command.index, (unsigned long long)outcome);
    for (uint64_t byte = 0; byte < command.blocks * kBlock && !bad; byte += 8) {
      const uint64_t at = command.offset + byte;
      const uint64_t iova = iovas[at / kPage] + at % kPage;
      if (controller.data[(iova - kDataIova) / 8] != word_at(command.slba * kBlock + byte))
        wrong("data of %u at %llu", command.index, (unsigned long long)byte);
    }
  }
  printf("%llu %u\n", (unsigned long long)report.commands, controller.rings);
  return report.commands == count ? 0 : 1;
}
