// A kernel that fetches experts as CUDA authors do, to inspect its machine code.
#include "fetch.cuh"

extern "C" __global__ void fetch_experts(gnv::Device device, gnv_fetch fetch) {
  gnv::fetch(device, fetch);
}
