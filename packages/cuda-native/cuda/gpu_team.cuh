// The threads of a kernel on a GPU. For nvcc only.
#pragma once

#include "target.cuh"

namespace gpunvme {

// A team, see warp.cuh.
struct GpuTeam {
  static constexpr uint32_t kLanes = 32;
  static constexpr uint32_t kAllLanes = 0xffffffff;

  // Blocks and grids may have up to three dimensions.
  static GPUNVME_DEVICE uint32_t block() { return blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z); }
  static GPUNVME_DEVICE uint32_t blocks() { return gridDim.x * gridDim.y * gridDim.z; }
  static GPUNVME_DEVICE uint32_t thread() { return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z); }
  static GPUNVME_DEVICE uint32_t threads() { return blockDim.x * blockDim.y * blockDim.z; }
  static GPUNVME_DEVICE uint32_t lane() { return thread() % kLanes; }

  static GPUNVME_DEVICE uint32_t ballot(uint32_t mask, bool value) { return __ballot_sync(mask, value); }
  static GPUNVME_DEVICE uint32_t shuffle(uint32_t mask, uint32_t value, uint32_t from) {
    return __shfl_sync(mask, value, static_cast<int>(from));
  }
  static GPUNVME_DEVICE uint64_t shuffle(uint32_t mask, uint64_t value, uint32_t from) {
    return __shfl_sync(mask, value, static_cast<int>(from));
  }
  static GPUNVME_DEVICE uint32_t shuffle_xor(uint32_t mask, uint32_t value, uint32_t distance) {
    return __shfl_xor_sync(mask, value, static_cast<int>(distance));
  }
  static GPUNVME_DEVICE uint64_t shuffle_xor(uint32_t mask, uint64_t value, uint32_t distance) {
    return __shfl_xor_sync(mask, value, static_cast<int>(distance));
  }
  static GPUNVME_DEVICE uint32_t match(uint32_t mask, uint32_t value) { return __match_any_sync(mask, value); }
  static GPUNVME_DEVICE void sync_warp(uint32_t mask) { __syncwarp(mask); }
  static GPUNVME_DEVICE void sync_block() { __syncthreads(); }

  template <class T>
  static GPUNVME_DEVICE T& shared() {
    __shared__ T memory;
    return memory;
  }

  static GPUNVME_DEVICE void atomic_add(uint32_t* at, uint32_t value) { atomicAdd(at, value); }
  static GPUNVME_DEVICE void atomic_add(uint64_t* at, uint64_t value) {
    atomicAdd(reinterpret_cast<unsigned long long*>(at), static_cast<unsigned long long>(value));
  }
  static GPUNVME_DEVICE void atomic_min(uint32_t* at, uint32_t value) { atomicMin(at, value); }
  static GPUNVME_DEVICE void atomic_min(uint64_t* at, uint64_t value) {
    atomicMin(reinterpret_cast<unsigned long long*>(at), static_cast<unsigned long long>(value));
  }
};

}  // namespace gpunvme
