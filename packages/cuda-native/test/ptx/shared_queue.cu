// Kernels that use gnv::Device as CUDA authors do, to inspect their machine code.
#include "gpunvme.cuh"

extern "C" __global__ void by_thread(gnv::Device device, gnv::Buffer buffer, uint32_t* failures) {
  const uint64_t thread = blockIdx.x * blockDim.x + threadIdx.x;
  const gnv::Ticket ticket = device.read(0, thread, 1, buffer, thread * 512);
  if (!device.wait(ticket).ok()) atomicAdd(failures, 1);
}

extern "C" __global__ void by_warp(gnv::Device device, gnv::Buffer buffer, uint32_t* failures) {
  const uint64_t thread = blockIdx.x * blockDim.x + threadIdx.x;
  const gnv::Ticket ticket = device.write(0, thread, 1, buffer, thread * 512, 0xffffffff);
  if (!device.wait(ticket, 0xffffffff).ok()) atomicAdd(failures, 1);
}
