// Kernels that use gnv::Device as CUDA authors do, to inspect their machine code.
#include "gpunvme.cuh"

// The example of gpunvme.cuh.
extern "C" __global__ void by_thread(gnv::Device device, gnv::Buffer buffer, uint64_t* sums) {
  const uint64_t thread = uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  const gnv::Ticket ticket = device.read(0, thread, 1, buffer, thread * 512);
  if (!device.wait(ticket).ok()) return;
  const uint64_t* block = static_cast<const uint64_t*>(buffer.data) + thread * 64;
  for (int i = 0; i < 64; i++) sums[thread] += block[i];
}

extern "C" __global__ void by_warp(gnv::Device device, gnv::Buffer buffer, uint32_t* failures) {
  const uint64_t thread = blockIdx.x * blockDim.x + threadIdx.x;
  const gnv::Ticket ticket = device.write(0, thread, 1, buffer, thread * 512, 0xffffffff);
  if (!device.wait(ticket, 0xffffffff).ok()) atomicAdd(failures, 1);
}
