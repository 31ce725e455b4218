// Differences between the compilers: nvcc compiles these functions for the GPU, g++ for the CPU.
#pragma once

#include <gpunvme/nvme_spec.h>

#include <stddef.h>
#include <stdint.h>

#if defined(__CUDACC__)
#define GPUNVME_DEVICE __device__ __forceinline__
// Prevents nvcc from unrolling a loop.
#define GPUNVME_ROLLED _Pragma("unroll 1")
#else
#define GPUNVME_DEVICE inline
#define GPUNVME_ROLLED
#endif

namespace gpunvme {

// Number of bits that are 1.
GPUNVME_DEVICE uint32_t count_bits(uint32_t bits) {
#if defined(__CUDA_ARCH__)
  return static_cast<uint32_t>(__popc(bits));
#else
  return static_cast<uint32_t>(__builtin_popcount(bits));
#endif
}

// Number of the lowest bit that is 1. `bits` is not 0.
GPUNVME_DEVICE uint32_t lowest_bit(uint32_t bits) {
#if defined(__CUDA_ARCH__)
  return static_cast<uint32_t>(__ffs(static_cast<int>(bits))) - 1;
#else
  return static_cast<uint32_t>(__builtin_ctz(bits));
#endif
}

// Sixteen bytes that are stored by one instruction.
struct alignas(16) Quad {
  uint32_t word[4];
};

}  // namespace gpunvme
