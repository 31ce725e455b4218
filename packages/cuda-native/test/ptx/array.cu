// Kernels that read a gnv::Array as CUDA authors do, to inspect their machine code.
#include "array.cuh"

// The example of array.cuh.
extern "C" __global__ void gather(gnv::Array<float> array, const uint64_t* indices, float* sums) {
  const uint64_t thread = uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  float value;
  if (array.read(indices[thread], value, 0xffffffff).ok()) sums[thread] += value;
}

extern "C" __global__ void gather_alone(gnv::Array<uint64_t> array, const uint64_t* indices, uint64_t* sums) {
  const uint64_t thread = uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  uint64_t value;
  if (array.read(indices[thread], value).ok()) sums[thread] += value;
}
