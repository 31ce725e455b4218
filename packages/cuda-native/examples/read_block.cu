// A GPU thread reads one block of an NVMe drive, without the host. read_block.mjs is the host program. In this folder:
//
//   nvcc -std=c++17 -ptx -arch=compute_75 -I ../cuda -I ../../nvme-spec/include read_block.cu
//   node read_block.mjs read_block.ptx
//
// (In an installation, the second folder is node_modules/@gpunvme/nvme-spec/include.)
#include "gpunvme.cuh"

struct BlockResult {
  uint64_t ending;
  uint64_t status;
  // Sum of the bytes, as the GPU sees them.
  uint64_t sum;
};

extern "C" __global__ void read_block(gnv::Device device, gnv::Buffer buffer, uint64_t lba, BlockResult* result) {
  const gnv::Ticket ticket = device.read(0, lba, 1, buffer, 0);
  const gnv::Outcome outcome = device.wait(ticket);
  result->ending = outcome.ending();
  result->status = outcome.status();
  result->sum = 0;
  if (!outcome.ok()) return;
  const uint8_t* bytes = static_cast<const uint8_t*>(buffer.data);
  for (uint64_t i = 0; i < buffer.bytes; i++) result->sum += bytes[i];
}
