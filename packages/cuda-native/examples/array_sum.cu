// Sums a large array of numbers on a drive. Each warp pins a page, sums its elements, and continues with another page.
//
//   nvcc -std=c++17 -arch=native -I../cuda -I../../nvme-spec/include -c array_sum.cu
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

// Stores the sum of the array in `result`. `drive` is a copy of the array's drive. `failures` is not 0 if the sum is incomplete.
// The owner of the controller has created the array and emptied its cache (gpunvme_array.h).
cudaError_t sum_array(const gnv_array& array, const gnv_drive& drive, Sum& result) {
  if (gnv_check_array(&array, &drive) != GNV_ARRAY_VALID) return cudaErrorInvalidValue;
  Sum* sum = nullptr;
  cudaError_t error = cudaMalloc(&sum, sizeof *sum);
  if (error == cudaSuccess) error = cudaMemset(sum, 0, sizeof *sum);
  if (error == cudaSuccess) {
    sum_pages<<<64, 256>>>({array}, sum);
    error = cudaGetLastError();
  }
  if (error == cudaSuccess) error = cudaMemcpy(&result, sum, sizeof *sum, cudaMemcpyDeviceToHost);
  cudaFree(sum);
  return error;
}
