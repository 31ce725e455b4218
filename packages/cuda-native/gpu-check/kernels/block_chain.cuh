// A GPU program of one thread that follows a chain of blocks: each begins with the number of the next one, so the host cannot
// submit the reads in advance. It then writes the complement of the last blocks that it read, and flushes.
#pragma once

#include "host_words.cuh"

namespace gpunvme {

// Words that the host writes and reads. Addresses are the GPU's.
struct BlockChain {
  gnv_device device;
  // Every read stores its data at the start.
  gnv_buffer buffer;
  // Number of blocks of one read or write.
  uint64_t blocks;
  uint64_t reads;
  uint64_t first_lba;
  // ~0: no write and no flush.
  uint64_t write_lba;
  // An outcome for each read, for the write and for the flush.
  uint64_t outcomes;
  // The data of all successful reads as the thread saw them, one after the other.
  uint64_t kept;
  // Result: time from submission to outcome, summed over the reads.
  uint64_t ns;
};
static_assert(sizeof(BlockChain) == 8 * 15, "written by the host");

template <class Team, class Port>
GPUNVME_DEVICE void block_chain(BlockChain& run) {
  const gnv::BasicDevice<Team, Port> device{run.device};
  uint64_t* const data = static_cast<uint64_t*>(run.buffer.data);
  uint64_t* outcomes = pointer_to<uint64_t>(run.outcomes);
  uint64_t* kept = pointer_to<uint64_t>(run.kept);
  const uint32_t blocks = static_cast<uint32_t>(run.blocks);
  const uint64_t words = (run.blocks << device.drives[0].block_shift) / 8;
  uint64_t lba = run.first_lba, ns = 0;
  GPUNVME_ROLLED
  for (uint64_t read = 0; read < run.reads; read++) {
    const uint64_t before_ns = Port::now_ns();
    const gnv::Outcome outcome = device.wait(device.read(0, lba, blocks, run.buffer, 0));
    ns += Port::now_ns() - before_ns;
    *outcomes++ = outcome.word();
    if (!outcome.ok()) continue;
    GPUNVME_ROLLED
    for (uint64_t word = 0; word < words; word++) *kept++ = data[word];
    lba = data[0];
  }
  run.ns = ns;
  if (run.write_lba == ~0ULL) return;
  GPUNVME_ROLLED
  for (uint64_t word = 0; word < words; word++) data[word] = ~data[word];
  *outcomes++ = device.wait(device.write(0, run.write_lba, blocks, run.buffer, 0)).word();
  *outcomes++ = device.wait(device.flush(0)).word();
}

}  // namespace gpunvme
