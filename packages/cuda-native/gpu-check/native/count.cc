#include "count.h"

#include <vector>

#include "cpu_port.cuh"
#include "device/host_leader.h"
#include "original.cuh"
#include "serve.cuh"
#include "solo_team.cuh"

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
thread_local const HostLeader* gHost;
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
    if (!gHost->is_local(at)) gCounted.loads++;
    return CpuPort::load_relaxed64(at);
  }
  static void store_relaxed64(uint64_t* at, uint64_t value) {
    if (!gHost->is_local(at)) gCounted.stores++;
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
  Device device(HostLeader::entries_for(depth));
  HostLeader host(device.sq.data(), device.cq.data(), device.doorbells, depth, 8);
  gDevice = &device;
  gHost = &host;
  gCounted = {};
  host.post(commands);
  serve<SoloTeam, CountingPort>(host.leader, 1);
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
