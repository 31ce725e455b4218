// Port of CPU threads that run under a sanitizer.
#pragma once

#include <sched.h>

#include "cpu_port.cuh"
#include "model_controller.h"

namespace model {

// ThreadSanitizer does not model fences: after one, the next doorbell is a store with release order. A doorbell without one
// orders nothing.
struct RacePort : gpunvme::CpuPort {
  static inline thread_local bool fenced = false;
  static inline uint64_t wakes = 0;

  static void fence() { fenced = true; }
  static void mmio_store32(uint32_t* at, uint32_t value) {
    if (fenced) __atomic_store_n(at, value, __ATOMIC_RELEASE);
    else __atomic_store_n(at, value, __ATOMIC_RELAXED);
    fenced = false;
  }
  static void relax(uint32_t empty_polls) {
    REQUIRE(empty_polls < kPatience, "polled too often without progress");
    sched_yield();
  }
  static void wake_host(void*) { __atomic_add_fetch(&wakes, 1, __ATOMIC_RELEASE); }

  static constexpr uint32_t kPatience = 50'000'000;
};

}  // namespace model

inline void gpunvme::CpuPort::wake_host(void*) {}
