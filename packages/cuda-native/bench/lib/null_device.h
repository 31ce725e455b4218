// A controller that only completes commands, on the thread that rings its doorbell. The bench subtracts its time.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "cpu_port.cuh"
#include "device/host_leader.h"

namespace gpunvme {

// One queue pair. On a doorbell write, consumes submission entries and posts a completion for each, in batches.
class NullDevice {
 public:
  explicit NullDevice(uint32_t entries) : sq(entries), cq(entries), entries_(entries) {}

  void Ring(uint32_t tail) {
    while (head_ != tail) {
      uint16_t cids[kBatch];
      uint32_t count = 0;
      for (; head_ != tail && count < kBatch; head_ = Next(head_)) {
        const uint32_t* entry = sq[head_].dwords;
        cids[count++] = static_cast<uint16_t>(entry[0] >> 16);
        // Reads a second dword of each entry. The program prints the sum, so that the compiler keeps the read.
        slbas += entry[10];
      }
      for (uint32_t at = 0; at < count; at++) {
        uint64_t* entry = cq[posted_].words;
        entry[0] = 0;
        const uint64_t dw3 = phase_ << 16 | cids[at];
        __atomic_store_n(&entry[1], dw3 << 32 | kQid << 16 | head_, __ATOMIC_RELEASE);
        posted_ = Next(posted_);
        if (posted_ == 0) phase_ ^= 1;
      }
    }
  }

  struct alignas(64) Sqe {
    uint32_t dwords[16];
  };
  struct alignas(16) Cqe {
    uint64_t words[2];
  };

  static constexpr uint64_t kQid = 1;
  std::vector<Sqe> sq;
  std::vector<Cqe> cq;
  // SQ tail, CQ head.
  alignas(64) uint32_t doorbells[2] = {};
  uint64_t slbas = 0;

 private:
  static constexpr uint32_t kBatch = 32;
  uint32_t Next(uint32_t index) const { return index + 1 == entries_ ? 0 : index + 1; }

  const uint32_t entries_;
  uint32_t head_ = 0;
  uint32_t posted_ = 0;
  uint64_t phase_ = 1;
};

// The CPU's port to memory, with a device at the first doorbell.
struct NullPort : CpuPort {
  static inline NullDevice* device = nullptr;
  static inline const HostLeader* host = nullptr;

  static void mmio_store32(uint32_t* at, uint32_t value) {
    CpuPort::mmio_store32(at, value);
    if (at == device->doorbells) device->Ring(value);
  }
  static void wake_host(void*) {}
};

// The same, but counts the accesses that would cross PCIe from a GPU, with queues and outcomes in host memory. Accesses
// without a port, 32-bit accesses and accesses of GPU scope go to the GPU's own memory, or happen once per plan.
struct CountingPort : NullPort {
  static inline uint64_t stores = 0, list_stores = 0, outcome_stores = 0, doorbells = 0, polls = 0, host_loads = 0;

  static void store16(void* at, const Quad& quad) {
    stores++;
    NullPort::store16(at, quad);
  }
  static void store64(uint64_t* at, uint64_t value) {
    list_stores++;
    NullPort::store64(at, value);
  }
  static void mmio_store32(uint32_t* at, uint32_t value) {
    doorbells++;
    NullPort::mmio_store32(at, value);
  }
  static uint64_t load_completion64(const uint64_t* at) { return load_acquire64(at); }
  static uint64_t load_acquire64(const uint64_t* at) {
    // Loads outside of the CQ are of a word in host memory.
    const auto* cq = reinterpret_cast<const uint64_t*>(device->cq.data());
    (at >= cq && at < cq + 2 * device->cq.size() ? polls : host_loads)++;
    return NullPort::load_acquire64(at);
  }
  static uint64_t load_relaxed64(const uint64_t* at) {
    if (!host->is_local(at)) host_loads++;
    return NullPort::load_relaxed64(at);
  }
  static void store_relaxed64(uint64_t* at, uint64_t value) {
    if (!host->is_local(at)) outcome_stores++;
    NullPort::store_relaxed64(at, value);
  }
  static void store_release64(uint64_t* at, uint64_t value) {
    outcome_stores++;
    NullPort::store_release64(at, value);
  }
};

}  // namespace gpunvme
