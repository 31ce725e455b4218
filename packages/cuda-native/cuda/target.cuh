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

// Sixteen bytes that are stored by one instruction.
struct alignas(16) Quad {
  uint32_t word[4];
};

}  // namespace gpunvme
