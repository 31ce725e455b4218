// Fetches a token's experts without the host: a router selects them, a kernel reads and verifies them, and another kernel
// computes with their bytes. The three launches form one CUDA graph, which is replayed for each token.
//
// From a project with the packages @gpunvme/cuda-native and @gpunvme/nvme-spec:
//
//   G=node_modules/@gpunvme; nvcc -std=c++17 -ptx -arch=compute_75 -I $G/cuda-native/cuda -I $G/nvme-spec/include fetch_experts.cu
//
// The process that owns the controller loads the PTX, and records the graph (docs/fetch.md). A program that links the CUDA runtime captures a stream:
//
//   cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal);
//   route<<<1, 32, 0, stream>>>(...); fetch_experts<<<64, 128, 0, stream>>>(...); sum_experts<<<8, 256, 0, stream>>>(...);
//   cudaStreamEndCapture(stream, &graph);
#include "fetch.cuh"

// Stands in for a router: draws the experts of token `*token`, and counts the token. One block.
extern "C" __global__ void route(uint32_t* ids, uint64_t count, uint32_t experts, uint32_t* token) {
  const uint32_t now = *token;
  for (uint32_t position = threadIdx.x; position < count; position += blockDim.x)
    ids[position] = (now * 7 + position * 3) % experts;
  __syncthreads();
  if (threadIdx.x == 0) *token = now + 1;
}

// Any number of blocks; a multiple of 32 threads.
extern "C" __global__ void fetch_experts(gnv::Device device, gnv_fetch fetch) {
  gnv::fetch(device, fetch);
}

// Stands in for the computation: a block per position sums the bytes of its expert. A sum of ~0 marks an expert without
// verified data, whose result the host reads.
extern "C" __global__ void sum_experts(gnv_fetch fetch, unsigned long long* sums) {
  const uint32_t position = blockIdx.x;
  const bool is_verified = fetch.results[position].ending == GNV_FETCH_VERIFIED;
  if (threadIdx.x == 0) sums[position] = is_verified ? 0 : ~0ULL;
  __syncthreads();
  if (!is_verified) return;
  unsigned long long sum = 0;
  const gnv_expert& expert = gpunvme::expert_of(fetch, position);
  for (uint32_t index = 0; index < expert.extent_count; index++) {
    const uint8_t* data = gnv::fetched(fetch, position, index);
    const uint64_t bytes = gpunvme::extents_of(fetch, expert)[index].bytes;
    for (uint64_t at = threadIdx.x; at < bytes; at += blockDim.x) sum += data[at];
  }
  atomicAdd(&sums[position], sum);
}
