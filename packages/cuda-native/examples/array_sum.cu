// Sums a large array of numbers on a drive. Each warp pins a page, sums its elements, and continues with another page.
//
//   nvcc -std=c++17 -ptx -arch=compute_75 -I ../cuda -I ../../nvme-spec/include array_sum.cu
//
// The host (docs/array.md):
//
//   const array = device.array({ cache: engine.buffer(memory) })
//   cuda.launch('sum_pages', 64, 256, [array.argument, sum.gpuPointer], stream)
#include "array.cuh"

struct Sum {
  unsigned long long total;
  // Pages that could not be read.
  unsigned long long failures;
};

extern "C" __global__ void sum_pages(gnv::Array<uint64_t> array, Sum* sum) {
  const uint32_t lane = threadIdx.x % 32;
  const uint64_t warp = (uint64_t{blockIdx.x} * blockDim.x + threadIdx.x) / 32, warps = uint64_t{gridDim.x} * blockDim.x / 32;
  unsigned long long total = 0;
  for (uint64_t first = warp * array.page_size(); first < array.size(); first += warps * array.page_size()) {
    gnv::Array<uint64_t>::Page page = array.pin(first, 0xffffffff);
    if (!page.ok() && lane == 0) atomicAdd(&sum->failures, 1);
    for (uint32_t i = lane; i < page.count; i += 32) total += page.data[i];
    array.unpin(page, 0xffffffff);
  }
  atomicAdd(&sum->total, total);
}
