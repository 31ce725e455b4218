// Port of one thread with weakly ordered memory. Tests act between its operations.
#pragma once

#include <functional>

#include "weak_memory.h"

namespace model {

struct OneThread {
  // Called before each operation.
  static inline std::function<void()> between;

  static uint32_t thread() { return 0; }
  static uint32_t threads() { return 1; }
  static void step() {
    if (between) between();
  }
  static void wait() { step(); }
};

struct HookPort : WeakMemoryPort<OneThread>, OneThread {
  // Called with each doorbell, before it is stored.
  static inline std::function<void(const uint32_t* at, uint32_t value)> rings;
  static inline uint64_t wakes = 0;

  static void mmio_store32(uint32_t* at, uint32_t value) {
    point();
    rings(at, value);
    __atomic_store_n(at, value, __ATOMIC_RELAXED);
  }
  static void wake_host(void*) {
    point();
    wakes++;
  }
};

}  // namespace model
