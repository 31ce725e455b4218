// A controller that does nothing but answer, on the thread that rings it: what is left is the device code's own time.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "cpu_port.cuh"

namespace gpunvme {

// One queue pair. At its doorbell it consumes submission entries and posts as many completions, in batches.
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
        // What arrived: so that nothing can be left out of what is measured.
        slbas += entry[10];
      }
      for (uint32_t at = 0; at < count; at++) {
        uint64_t* entry = cq[posted_].words;
        entry[0] = 0;
        __atomic_store_n(&entry[1], phase_ << 48 | static_cast<uint64_t>(cids[at]) << 32 | kQid << 16 | head_, __ATOMIC_RELEASE);
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

// The CPU's way to memory, with a device behind the first doorbell.
struct NullPort : CpuPort {
  static inline NullDevice* device = nullptr;

  static void mmio_store32(uint32_t* at, uint32_t value) {
    CpuPort::mmio_store32(at, value);
    if (at == device->doorbells) device->Ring(value);
  }
  static void wake_host(void*) {}
};

}  // namespace gpunvme
