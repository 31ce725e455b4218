// The one place where compilers are told apart: nvcc makes these functions of the GPU, g++ functions of this process.
#pragma once

#include <gpunvme/nvme_spec.h>

#include <stddef.h>
#include <stdint.h>

#if defined(__CUDACC__)
#define GPUNVME_DEVICE __device__ __forceinline__
// Before a loop that is not worth the room that nvcc would repeat it in.
#define GPUNVME_ROLLED _Pragma("unroll 1")
#else
#define GPUNVME_DEVICE inline
#define GPUNVME_ROLLED
#endif

namespace gpunvme {

// Sixteen bytes that are stored at once.
struct alignas(16) Quad {
  uint32_t word[4];
};

}  // namespace gpunvme
