// Access of a GPU thread to memory, registers and time. For nvcc only.
//
// A port is a class of static functions and the template parameter of the other code in this folder. The same code runs
// on a GPU, on a CPU thread, under ThreadSanitizer, and under a scheduler that permutes its steps.
#pragma once

#include "target.cuh"

namespace gpunvme {

struct GpuPort {
  // Stores to memory that the controller reads after a doorbell; call `fence` between.
  static GPUNVME_DEVICE void store16(void* at, const Quad& quad) {
    asm volatile("st.global.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(at), "r"(quad.word[0]), "r"(quad.word[1]),
                 "r"(quad.word[2]), "r"(quad.word[3])
                 : "memory");
  }
  static GPUNVME_DEVICE void store64(uint64_t* at, uint64_t value) {
    asm volatile("st.global.u64 [%0], %1;" ::"l"(at), "l"(value) : "memory");
  }

  // Orders all earlier stores before all later ones, for controller and host. It is __threadfence_system(), with which
  // real drives were driven (rule R2, measured on an RTX 3090).
  static GPUNVME_DEVICE void fence() { asm volatile("fence.sc.sys;" ::: "memory"); }

  // One 32-bit store to a register: never merged, split, repeated or cached. Unlike volatile, .mmio preserves size and
  // order (PTX ISA 8.2, section "Memory Operations").
  static GPUNVME_DEVICE void mmio_store32(uint32_t* at, uint32_t value) {
    asm volatile("st.mmio.relaxed.sys.global.u32 [%0], %1;" ::"l"(at), "r"(value) : "memory");
  }

  // The last 8 bytes of a completion. Relaxed: an acquire in every poll would invalidate the L1 cache, which holds the state of
  // the queues. Code whose threads access the data calls `fence_acquire` after it has seen a completion.
  static GPUNVME_DEVICE uint64_t load_completion64(const uint64_t* at) { return load_relaxed64(at); }

  // Acquire: earlier stores of the host become visible too.
  static GPUNVME_DEVICE uint64_t load_acquire64(const uint64_t* at) {
    uint64_t value;
    asm volatile("ld.acquire.sys.global.u64 %0, [%1];" : "=l"(value) : "l"(at) : "memory");
    return value;
  }
  static GPUNVME_DEVICE uint64_t load_relaxed64(const uint64_t* at) {
    uint64_t value;
    asm volatile("ld.relaxed.sys.global.u64 %0, [%1];" : "=l"(value) : "l"(at) : "memory");
    return value;
  }

  // Stores to memory that the host reads; `release` orders them after all earlier stores.
  static GPUNVME_DEVICE void store_relaxed64(uint64_t* at, uint64_t value) {
    asm volatile("st.relaxed.sys.global.u64 [%0], %1;" ::"l"(at), "l"(value) : "memory");
  }
  static GPUNVME_DEVICE void store_release64(uint64_t* at, uint64_t value) {
    asm volatile("st.release.sys.global.u64 [%0], %1;" ::"l"(at), "l"(value) : "memory");
  }

  static GPUNVME_DEVICE uint32_t load_relaxed32(const uint32_t* at) {
    uint32_t value;
    asm volatile("ld.relaxed.sys.global.u32 %0, [%1];" : "=r"(value) : "l"(at) : "memory");
    return value;
  }
  static GPUNVME_DEVICE uint32_t cas32(uint32_t* at, uint32_t expected, uint32_t value) {
    uint32_t before;
    asm volatile("atom.acq_rel.sys.global.cas.b32 %0, [%1], %2, %3;"
                 : "=r"(before)
                 : "l"(at), "r"(expected), "r"(value)
                 : "memory");
    return before;
  }
  static GPUNVME_DEVICE void store_release32(uint32_t* at, uint32_t value) {
    asm volatile("st.release.sys.global.u32 [%0], %1;" ::"l"(at), "r"(value) : "memory");
  }

  // After a completion was seen: its data are visible to this thread, and to threads that acquire what it releases.
  static GPUNVME_DEVICE void fence_acquire() { asm volatile("fence.acq_rel.sys;" ::: "memory"); }

  // Words that only threads of this GPU use.
  static GPUNVME_DEVICE uint32_t load_acquire32_gpu(const uint32_t* at) {
    uint32_t value;
    asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(at) : "memory");
    return value;
  }
  static GPUNVME_DEVICE uint64_t load_acquire64_gpu(const uint64_t* at) {
    uint64_t value;
    asm volatile("ld.acquire.gpu.global.u64 %0, [%1];" : "=l"(value) : "l"(at) : "memory");
    return value;
  }
  static GPUNVME_DEVICE void store_release32_gpu(uint32_t* at, uint32_t value) {
    asm volatile("st.release.gpu.global.u32 [%0], %1;" ::"l"(at), "r"(value) : "memory");
  }
  static GPUNVME_DEVICE void store_release64_gpu(uint64_t* at, uint64_t value) {
    asm volatile("st.release.gpu.global.u64 [%0], %1;" ::"l"(at), "l"(value) : "memory");
  }
  // Return the value before.
  static GPUNVME_DEVICE uint32_t add32_gpu(uint32_t* at, uint32_t value) {
    uint32_t before;
    asm volatile("atom.acq_rel.gpu.global.add.u32 %0, [%1], %2;" : "=r"(before) : "l"(at), "r"(value) : "memory");
    return before;
  }
  // Relaxed: other accesses order the memory that the value refers to. An acquire or release would cost a fence.
  static GPUNVME_DEVICE uint32_t add32_relaxed_gpu(uint32_t* at, uint32_t value) {
    uint32_t before;
    asm volatile("atom.relaxed.gpu.global.add.u32 %0, [%1], %2;" : "=r"(before) : "l"(at), "r"(value) : "memory");
    return before;
  }
  static GPUNVME_DEVICE uint32_t xor32_gpu(uint32_t* at, uint32_t value) {
    uint32_t before;
    asm volatile("atom.acq_rel.gpu.global.xor.b32 %0, [%1], %2;" : "=r"(before) : "l"(at), "r"(value) : "memory");
    return before;
  }
  static GPUNVME_DEVICE uint32_t exchange32_gpu(uint32_t* at, uint32_t value) {
    uint32_t before;
    asm volatile("atom.acq_rel.gpu.global.exch.b32 %0, [%1], %2;" : "=r"(before) : "l"(at), "r"(value) : "memory");
    return before;
  }
  static GPUNVME_DEVICE uint32_t cas32_gpu(uint32_t* at, uint32_t expected, uint32_t value) {
    uint32_t before;
    asm volatile("atom.acq_rel.gpu.global.cas.b32 %0, [%1], %2, %3;"
                 : "=r"(before)
                 : "l"(at), "r"(expected), "r"(value)
                 : "memory");
    return before;
  }
  static GPUNVME_DEVICE uint64_t cas64_gpu(uint64_t* at, uint64_t expected, uint64_t value) {
    uint64_t before;
    asm volatile("atom.acq_rel.gpu.global.cas.b64 %0, [%1], %2, %3;"
                 : "=l"(before)
                 : "l"(at), "l"(expected), "l"(value)
                 : "memory");
    return before;
  }

  static GPUNVME_DEVICE uint64_t add64_gpu(uint64_t* at, uint64_t value) {
    uint64_t before;
    asm volatile("atom.acq_rel.gpu.global.add.u64 %0, [%1], %2;" : "=l"(before) : "l"(at), "l"(value) : "memory");
    return before;
  }
  // Increments a counter, with relaxed order.
  static GPUNVME_DEVICE void count64_gpu(uint64_t* at) {
    asm volatile("red.relaxed.gpu.global.add.u64 [%0], 1;" ::"l"(at) : "memory");
  }

  // Returns the time in nanoseconds. clock64() counts cycles of a variable clock. %globaltimer advances in steps of 32
  // ns to a microsecond or more, depending on the GPU; gpu-check measures them.
  static GPUNVME_DEVICE uint64_t now_ns() {
    uint64_t now;
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
    return now;
  }

  // Called after each empty poll, with the number of consecutive empty polls. Sleeps longer after about a millisecond, since an
  // idle leader of a busy grid keeps polling a word in host memory.
  static GPUNVME_DEVICE void relax(uint32_t empty_polls) {
    if (empty_polls > 1024) asm volatile("nanosleep.u32 2000;");
    else if (empty_polls > 64) asm volatile("nanosleep.u32 200;");
  }

  // The host polls.
  static GPUNVME_DEVICE void wake_host(void*) {}
};

}  // namespace gpunvme
