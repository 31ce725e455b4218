// A port for the words of a queue that one warp, or one CPU thread, has for itself.
#pragma once

#include "target.cuh"

namespace gpunvme {

// Plain loads and stores instead of atomic operations, which cost a GPU about half a microsecond each. Lanes of the warp see
// each other's stores after `sync_warp`. What the controller or the host accesses goes through `Port`: entries, doorbells,
// completions. Data of reads are for others, which synchronize with the warp, so that it need not acquire them itself.
template <class Port>
struct OwnedPort : Port {
  static GPUNVME_DEVICE void fence_acquire() {}

  static GPUNVME_DEVICE uint32_t load_relaxed32(const uint32_t* at) { return *at; }
  static GPUNVME_DEVICE uint64_t load_relaxed64(const uint64_t* at) { return *at; }
  static GPUNVME_DEVICE uint32_t load_acquire32_gpu(const uint32_t* at) { return *at; }
  static GPUNVME_DEVICE uint64_t load_acquire64_gpu(const uint64_t* at) { return *at; }
  static GPUNVME_DEVICE void store_relaxed64(uint64_t* at, uint64_t value) { *at = value; }
  static GPUNVME_DEVICE void store_release32(uint32_t* at, uint32_t value) { *at = value; }
  static GPUNVME_DEVICE void store_release64_gpu(uint64_t* at, uint64_t value) { *at = value; }
  static GPUNVME_DEVICE uint32_t add32_gpu(uint32_t* at, uint32_t value) { return exchange32_gpu(at, *at + value); }
  static GPUNVME_DEVICE uint32_t add32_relaxed_gpu(uint32_t* at, uint32_t value) { return add32_gpu(at, value); }
  static GPUNVME_DEVICE uint32_t exchange32_gpu(uint32_t* at, uint32_t value) {
    const uint32_t before = *at;
    *at = value;
    return before;
  }
  static GPUNVME_DEVICE uint32_t cas32(uint32_t* at, uint32_t expected, uint32_t value) { return cas(at, expected, value); }
  static GPUNVME_DEVICE uint32_t cas32_gpu(uint32_t* at, uint32_t expected, uint32_t value) { return cas(at, expected, value); }
  static GPUNVME_DEVICE uint64_t cas64_gpu(uint64_t* at, uint64_t expected, uint64_t value) { return cas(at, expected, value); }

 private:
  template <class Word>
  static GPUNVME_DEVICE Word cas(Word* at, Word expected, Word value) {
    const Word before = *at;
    if (before == expected) *at = value;
    return before;
  }
};

}  // namespace gpunvme
