// The kernels, by the names under which the driver finds them. Their code is in the headers.
//
// Every parameter is 8 bytes, an address for the GPU or a number, so that all kernels take a list of 64-bit words.
// Addresses are of GPU memory, or of host memory that is mapped for the GPU.
#include "checksum.cuh"
#include "gpu_port.cuh"
#include "gpu_team.cuh"
#include "pattern.cuh"
#include "scatter.cuh"
#include "serve.cuh"
#include "store32.cuh"

using namespace gpunvme;

// Serves queues for the host: executes plans of reads and writes until there has been none for linger_ns, or the host stops
// it. With an infinite linger_ns it is the persistent kernel. See serve.cuh.
//
//   leaders  in GPU memory, laid out by native/engine/leader_memory.cc: one per block, all of the same Grid; not accessed by
//            others until `ended` of their reports equals `launch`
//   launch   number of launches for these leaders, including this one; they run one after another in one stream
//
// One warp per block, and a minimum of one block per multiprocessor: without a minimum, nvcc limits registers so that more
// blocks fit, and spills.
extern "C" __global__ void __launch_bounds__(32, 1) gpunvme_serve(Leader* leaders, uint64_t launch) {
  serve<GpuTeam, GpuPort>(leaders[GpuTeam::block()], launch);
}

// Computes the CRC-32 of each chunk of `chunk_bytes` (more than 0) in `bytes` bytes at `data`; the last chunk may be
// shorter. See checksum.cuh.
//
//   results      one uint32_t per chunk, or 0
//   expected     one uint32_t per chunk, or 0 for no comparison
//   verdict      8 bytes, ChecksumVerdict { mismatches, first_mismatch }, which the host sets to { 0, 0xffffffff }
//                before; 0 if expected is 0
//   first_index  added to the index of a chunk that does not match; all indices are below 2^32 - 1
//
// Blocks: at most the number of chunks. Threads: a multiple of 32 up to 1024; 256 is a good choice. data may have any
// alignment; the other addresses are multiples of 4.
extern "C" __global__ void __launch_bounds__(1024)
    gpunvme_checksum(const uint8_t* data, uint64_t bytes, uint64_t chunk_bytes, uint32_t* results,
                     const uint32_t* expected, ChecksumVerdict* verdict, uint64_t first_index) {
  checksum<GpuTeam>({data, bytes, chunk_bytes, results, expected, verdict, first_index});
}

// Copies `count` pieces from `source` to `destination`: see scatter.cuh.
//
//   entries  a multiple of 8: `count` of ScatterEntry { source_offset, destination_offset, bytes, before }, 8 bytes per
//            field; `before` is the sum of `bytes` of all earlier entries
//
// The host has checked bounds; destinations overlap neither each other nor sources. Blocks: any number; a warp copies
// 16 KiB at a time, so total bytes / 16384 / (threads / 32) of them have work. Threads: a multiple of 32; 256 is a good
// choice. source and destination may have any alignment.
extern "C" __global__ void __launch_bounds__(1024)
    gpunvme_scatter(const uint8_t* source, uint8_t* destination, const ScatterEntry* entries, uint64_t count) {
  scatter<GpuTeam>({source, destination, entries, count});
}

// Writes bytes `offset` to `offset + bytes - 1` of the pattern of `seed` to `data`: see pattern.cuh. Blocks: any
// number. Threads: a multiple of 32; 256 is a good choice. data may have any alignment.
extern "C" __global__ void __launch_bounds__(1024)
    gpunvme_pattern_fill(uint8_t* data, uint64_t bytes, uint64_t seed, uint64_t offset) {
  pattern_fill<GpuTeam>({data, bytes, seed, offset});
}

// Counts the bytes that differ from the pattern of gpunvme_pattern_fill.
//
//   verdict  16 bytes at a multiple of 8: PatternVerdict { wrong_bytes, first_wrong_offset (from data) }, which the host
//            sets to { 0, 2^64 - 1 } before
extern "C" __global__ void __launch_bounds__(1024)
    gpunvme_pattern_verify(uint8_t* data, uint64_t bytes, uint64_t seed, uint64_t offset, PatternVerdict* verdict) {
  pattern_verify<GpuTeam>({data, bytes, seed, offset}, verdict);
}

// Stores 32 bits to a register, as a doorbell is rung; reads nothing. See store32.cuh.
//
//   at     the GPU's address of the register, a multiple of 4
//   value  the low 32 bits are stored
//
// One block of one thread.
extern "C" __global__ void __launch_bounds__(1) gpunvme_store32(uint32_t* at, uint64_t value) {
  store32<GpuPort>(at, value);
}
