#include "count.h"

#include <vector>

#include "cpu_port.cuh"
#include "original.cuh"
#include "serve.cuh"

namespace gpunvme {

namespace {

// Completes commands on the thread that rings, so that no poll is empty.
struct Device {
  explicit Device(uint32_t count) : entries(count), sq(16 * count), cq(2 * count) {}

  void Ring() {
    while (head != doorbells[0]) {
      const uint64_t cid = sq[16 * head] >> 16;
      head = head + 1 == entries ? 0 : head + 1;
      cq[2 * posted + 1] = phase << 48 | cid << 32 | 1ULL << 16 | head;
      posted = posted + 1 == entries ? 0 : posted + 1;
      if (posted == 0) phase ^= 1;
      unseen++;
    }
  }

  uint32_t entries;
  std::vector<uint32_t> sq;
  std::vector<uint64_t> cq;
  uint32_t doorbells[2] = {};
  uint32_t head = 0;
  uint32_t posted = 0;
  uint64_t phase = 1;
  // Number of completions that are posted but not yet loaded.
  uint64_t unseen = 0;
};

thread_local Device* gDevice;
thread_local Counted gCounted;

struct CountingPort : CpuPort {
  static void store16(void* at, const Quad& quad) {
    gCounted.stores++;
    CpuPort::store16(at, quad);
  }
  static void store64(uint64_t* at, uint64_t value) {
    gCounted.stores++;
    CpuPort::store64(at, value);
  }
  static void mmio_store32(uint32_t* at, uint32_t value) {
    gCounted.doorbells++;
    CpuPort::mmio_store32(at, value);
    if (at == gDevice->doorbells) gDevice->Ring();
  }
  static uint64_t load_completion64(const uint64_t* at) { return load_acquire64(at); }
  static uint64_t load_acquire64(const uint64_t* at) {
    const bool is_entry = at >= gDevice->cq.data() && at < gDevice->cq.data() + gDevice->cq.size();
    if (!is_entry || gDevice->unseen > 0) gCounted.loads++;
    if (is_entry && gDevice->unseen > 0) gDevice->unseen--;
    return CpuPort::load_acquire64(at);
  }
  static uint64_t load_relaxed64(const uint64_t* at) {
    gCounted.loads++;
    return CpuPort::load_relaxed64(at);
  }
  static void store_relaxed64(uint64_t* at, uint64_t value) {
    gCounted.stores++;
    CpuPort::store_relaxed64(at, value);
  }
  static void store_release64(uint64_t* at, uint64_t value) {
    gCounted.stores++;
    CpuPort::store_release64(at, value);
  }
  static void relax(uint32_t) {}
  static void wake_host(void*) {}
};

struct CountingWords {
  template <class Word>
  static Word load(const Word* at) {
    gCounted.loads++;
    return PinnedWords::load(at);
  }
  template <class Word>
  static void store(Word* at, Word value) {
    gCounted.stores++;
    PinnedWords::store(at, value);
  }
};

uint64_t AddressOf(const void* at) { return reinterpret_cast<uintptr_t>(at); }

}  // namespace

Counted CountEngine(uint32_t commands, uint32_t depth) {
  Device device(2 * depth);
  gDevice = &device;
  gCounted = {};
  std::vector<Slot> slots(depth);
  std::vector<uint32_t> free_slots(depth);
  std::vector<Share> shares(SHARES);
  std::vector<Active> actives(SHARES);
  std::vector<Command> list(commands);
  std::vector<uint64_t> outcomes(commands);
  const uint64_t iova = 1ULL << 32;
  for (uint32_t at = 0; at < commands; at++) list[at] = {8ULL * at, 4096ULL * (at % depth), 8, at};
  for (uint32_t slot = 0; slot < depth; slot++) free_slots[slot] = slot;
  Share& share = shares[0];
  share.commands = list.data();
  share.outcomes = outcomes.data();
  share.memory = {&iova, 63};
  share.timeout_ns = 10'000'000'000;
  share.count = commands;
  share.nsid = 1;
  share.block_bytes = 512;
  share.opcode = GPUNVME_NVM_OPCODE_READ;
  alignas(64) uint64_t control = 1 | CONTROL_STOP;
  Report report{};
  Pair pair{};
  pair.sq = reinterpret_cast<Quad*>(device.sq.data());
  pair.tail_doorbell = &device.doorbells[0];
  pair.page_bytes = 4096;
  pair.slots = slots.data();
  pair.free_slots = free_slots.data();
  pair.shares = shares.data();
  pair.control = &control;
  pair.active = actives.data();
  pair.qid = 1;
  pair.sq_entries = device.entries;
  pair.slot_count = depth;
  while (1u << pair.slot_bits < depth) pair.slot_bits++;
  pair.free_count = depth;
  Grid grid{1, 0};
  Leader leader{};
  leader.grid = &grid;
  leader.cq = device.cq.data();
  leader.head_doorbell = &device.doorbells[1];
  leader.pairs = &pair;
  leader.report = &report;
  leader.pair_count = 1;
  leader.cq_entries = device.entries;
  leader.phase = 1;
  leader.next_deadline_ns = NO_DEADLINE;
  serve<CountingPort>(leader, 1);
  return gCounted;
}

Counted CountOriginal(uint32_t commands, uint32_t depth) {
  Device device(2 * depth);
  gDevice = &device;
  gCounted = {};
  OriginalQueue queue{};
  queue.sq = AddressOf(device.sq.data());
  queue.cq = AddressOf(device.cq.data());
  queue.tail_doorbell = AddressOf(&device.doorbells[0]);
  queue.head_doorbell = AddressOf(&device.doorbells[1]);
  queue.entries = device.entries;
  queue.phase = 1;
  queue.nsid = 1;
  queue.block_bytes = 512;
  OriginalRun run{};
  run.queue = &queue;
  run.data = 1ULL << 32;
  run.pages = depth;
  run.commands = commands;
  run.depth = depth;
  run.timeout_ns = 10'000'000'000;
  original_read<CountingPort, CountingWords>(run);
  return gCounted;
}

}  // namespace gpunvme
