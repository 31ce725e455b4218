// A port for words of a queue that only one warp or one CPU thread accesses.
#pragma once

#include "target.cuh"

namespace gpunvme {

// Uses plain loads and stores instead of atomic operations, which take a GPU about half a microsecond each. Lanes of the warp
// see each other's stores after `sync_warp`. Accesses to entries, doorbells and completions, which the controller shares, go
// through `Port`. `fence_acquire` does nothing: the warp itself does not load the data of reads, and threads that do
// synchronize with the warp.
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
