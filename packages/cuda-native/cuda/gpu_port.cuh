// How a thread of a GPU reaches memory, registers and time. Only kernels.cu includes this: it is for nvcc alone.
//
// A port is a class of static functions. Everything else in this folder is written against one, as a template, so that
// the same lines run on a GPU, on a thread of the CPU, under ThreadSanitizer and under a scheduler that shuffles them.
#pragma once

#include "target.cuh"

namespace gpunvme {

struct GpuPort {
  // Polls that may find nothing while others are waited for, so that one doorbell announces a batch. After that whatever
  // there is goes out: a slow controller is not made to wait. Each of them is a read over PCIe, of about a microsecond.
  static constexpr uint32_t PATIENT_POLLS = 16;

  // To memory that the controller reads after a doorbell: `fence` comes between.
  static GPUNVME_DEVICE void store16(void* at, const Quad& quad) {
    asm volatile("st.global.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(at), "r"(quad.word[0]), "r"(quad.word[1]),
                 "r"(quad.word[2]), "r"(quad.word[3])
                 : "memory");
  }
  static GPUNVME_DEVICE void store64(uint64_t* at, uint64_t value) {
    asm volatile("st.global.u64 [%0], %1;" ::"l"(at), "l"(value) : "memory");
  }

  // Everything stored before is there, for controller and host, before anything that is stored after. This is the
  // fence that __threadfence_system() is: the one that drives were driven with (rule R2, measured on an RTX 3090).
  static GPUNVME_DEVICE void fence() { asm volatile("fence.sc.sys;" ::: "memory"); }

  // One store of 32 bits to a register: never joined, split, repeated or left in a cache. PTX ISA 8.2, section
  // "Memory Operations": .mmio keeps its size and order, which volatile does not promise.
  static GPUNVME_DEVICE void mmio_store32(uint32_t* at, uint32_t value) {
    asm volatile("st.mmio.relaxed.sys.global.u32 [%0], %1;" ::"l"(at), "r"(value) : "memory");
  }

  // The last 8 bytes of a completion: no kernel here looks at the data that it announces, and the host is told of it by a
  // store that releases. To acquire with every poll would empty the L1 cache each time, and with it the queues' state.
  static GPUNVME_DEVICE uint64_t load_completion64(const uint64_t* at) { return load_relaxed64(at); }

  // What the host stored, and what it had stored before that.
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

  // To memory that the host reads: with `release`, after everything stored before.
  static GPUNVME_DEVICE void store_relaxed64(uint64_t* at, uint64_t value) {
    asm volatile("st.relaxed.sys.global.u64 [%0], %1;" ::"l"(at), "l"(value) : "memory");
  }
  static GPUNVME_DEVICE void store_release64(uint64_t* at, uint64_t value) {
    asm volatile("st.release.sys.global.u64 [%0], %1;" ::"l"(at), "l"(value) : "memory");
  }

  // Nanoseconds. clock64() counts cycles of a clock that changes its speed; this one steps by 32 ns to a microsecond or
  // more, as the GPU has it, which gpu-check measures.
  static GPUNVME_DEVICE uint64_t now_ns() {
    uint64_t now;
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
    return now;
  }

  // Called after a poll that found nothing; `empty_polls` in a row until now.
  static GPUNVME_DEVICE void relax(uint32_t empty_polls) {
    if (empty_polls > 64) asm volatile("nanosleep.u32 200;");
  }

  // The host looks by itself.
  static GPUNVME_DEVICE void wake_host(void*) {}
};

}  // namespace gpunvme
