// Access of a CPU thread to memory, registers and time. For g++: no kernel includes it.
#pragma once

#include <sched.h>
#include <time.h>

#include "target.cuh"

namespace gpunvme {

struct CpuPort {
  static void store16(void* at, const Quad& quad) {
    auto* to = static_cast<Quad*>(at);
    *to = quad;
  }
  static void store64(uint64_t* at, uint64_t value) { *at = value; }

#if defined(__SANITIZE_THREAD__)
  // ThreadSanitizer does not model fences: here the doorbell store after a fence has release order.
  static void fence() {}
  static void mmio_store32(uint32_t* at, uint32_t value) { __atomic_store_n(at, value, __ATOMIC_RELEASE); }
#else
  static void fence() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
  static void mmio_store32(uint32_t* at, uint32_t value) { __atomic_store_n(at, value, __ATOMIC_RELAXED); }
#endif

  // The last 8 bytes of a completion. Acquire: readers of the outcome may access the data.
  static uint64_t load_completion64(const uint64_t* at) { return load_acquire64(at); }
  static uint64_t load_acquire64(const uint64_t* at) { return __atomic_load_n(at, __ATOMIC_ACQUIRE); }
  static uint64_t load_relaxed64(const uint64_t* at) { return __atomic_load_n(at, __ATOMIC_RELAXED); }
  static void store_relaxed64(uint64_t* at, uint64_t value) { __atomic_store_n(at, value, __ATOMIC_RELAXED); }
  static void store_release64(uint64_t* at, uint64_t value) { __atomic_store_n(at, value, __ATOMIC_RELEASE); }

  static uint32_t load_relaxed32(const uint32_t* at) { return __atomic_load_n(at, __ATOMIC_RELAXED); }
  static void store_release32(uint32_t* at, uint32_t value) { __atomic_store_n(at, value, __ATOMIC_RELEASE); }

  // `load_completion64` has acquired.
  static void fence_acquire() {}

  static uint32_t load_acquire32_gpu(const uint32_t* at) { return __atomic_load_n(at, __ATOMIC_ACQUIRE); }
  static uint64_t load_acquire64_gpu(const uint64_t* at) { return load_acquire64(at); }
  static void store_release32_gpu(uint32_t* at, uint32_t value) { store_release32(at, value); }
  static void store_release64_gpu(uint64_t* at, uint64_t value) { store_release64(at, value); }
  static uint32_t add32_gpu(uint32_t* at, uint32_t value) { return __atomic_fetch_add(at, value, __ATOMIC_ACQ_REL); }
  static uint32_t add32_relaxed_gpu(uint32_t* at, uint32_t value) { return __atomic_fetch_add(at, value, __ATOMIC_RELAXED); }
  static uint32_t xor32_gpu(uint32_t* at, uint32_t value) { return __atomic_fetch_xor(at, value, __ATOMIC_ACQ_REL); }
  static uint32_t exchange32_gpu(uint32_t* at, uint32_t value) { return __atomic_exchange_n(at, value, __ATOMIC_ACQ_REL); }
  static uint32_t cas32(uint32_t* at, uint32_t expected, uint32_t value) { return cas32_gpu(at, expected, value); }
  static uint32_t cas32_gpu(uint32_t* at, uint32_t expected, uint32_t value) {
    __atomic_compare_exchange_n(at, &expected, value, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
    return expected;
  }
  static uint64_t cas64_gpu(uint64_t* at, uint64_t expected, uint64_t value) {
    __atomic_compare_exchange_n(at, &expected, value, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
    return expected;
  }
  static uint64_t add64_gpu(uint64_t* at, uint64_t value) { return __atomic_fetch_add(at, value, __ATOMIC_ACQ_REL); }
  static void count64_gpu(uint64_t* at) { __atomic_fetch_add(at, 1, __ATOMIC_RELAXED); }

  static uint64_t now_ns() {
    timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return static_cast<uint64_t>(now.tv_sec) * 1000000000 + static_cast<uint64_t>(now.tv_nsec);
  }

  // Without sched_yield, spinning starves a simulator thread on the same core: 0.4 instead of 148 thousand commands/s
  // were measured on two busy processors.
  static void relax(uint32_t empty_polls) {
    if (empty_polls % 256 == 255) sched_yield();
    else __builtin_ia32_pause();
  }

  // Wakes the JavaScript thread. `context` is Leader::context.
  static void wake_host(void* context);
};

}  // namespace gpunvme
