// The kernels, by the names under which the driver finds them. Each is a line or two: what they do is in the headers.
//
// Every parameter is 8 bytes, an address that the GPU can use or a number, so that who launches one hands over a list of
// 64-bit words. Addresses are of GPU memory, or of host memory that is mapped for it.
#include "block_io.cuh"
#include "checksum.cuh"
#include "gpu_port.cuh"
#include "gpu_team.cuh"
#include "pattern.cuh"
#include "scatter.cuh"
#include "serve.cuh"
#include "store32.cuh"
#include "warp_read.cuh"

using namespace gpunvme;

// Serves one leader's queues: plans of reads and writes, until none was left for the leader's linger_ns, or the host said
// stop. With a linger_ns without end it is the persistent kernel, which the host feeds with plans. See serve.cuh.
//
//   leader  of GPU memory, laid out by native/engine/session.cc; nobody else touches it before `ended` of its report is
//           `launch`
//   launch  how many launches there were for this leader, this one included: they follow each other in one stream
//
// One block of one thread.
extern "C" __global__ void __launch_bounds__(1) gpunvme_serve(Leader* leader, uint64_t launch) {
  serve<GpuPort>(*leader, launch);
}

// The same work with the same parameters, by a warp: its lanes write the entries of a batch side by side. See
// warp_read.cuh. One block of 32 threads.
extern "C" __global__ void __launch_bounds__(32) gpunvme_warp_read(Leader* leader, uint64_t launch) {
  warp_read<GpuTeam, GpuPort>(*leader, launch);
}

// A single read, write or flush on one of a leader's queues, with its outcome, in a bounded time. See block_io.cuh.
//
//   leader, launch  as for gpunvme_serve: a launch of this is one
//   io              of GPU memory: BlockIo { command, memory, timeout_ns, pair, opcode, nsid, block_bytes; outcome }, with
//                   room for what the kernel needs. A multiple of 64
//
// One block of one thread.
extern "C" __global__ void __launch_bounds__(1) gpunvme_block_io(Leader* leader, uint64_t launch, BlockIo* io) {
  block_io<GpuPort>(*leader, *io, launch);
}

// CRC-32 of each `chunk_bytes` (more than 0) of `bytes` from `data` on, the last chunk shorter: see checksum.cuh.
//
//   results      uint32_t for each chunk, or 0
//   expected     uint32_t for each chunk, or 0 to compare nothing
//   verdict      8 bytes, ChecksumVerdict { mismatches, first_mismatch }: the host writes { 0, 0xffffffff } before; 0 where
//                expected is
//   first_index  added to the index of a chunk that does not match; all indices are below 2^32 - 1
//
// Blocks: as many as chunks, or fewer. Threads: a multiple of 32, at most 1024; 256 is good. data may have any alignment,
// the other addresses are multiples of 4.
extern "C" __global__ void __launch_bounds__(1024)
    gpunvme_checksum(const uint8_t* data, uint64_t bytes, uint64_t chunk_bytes, uint32_t* results,
                     const uint32_t* expected, ChecksumVerdict* verdict, uint64_t first_index) {
  checksum<GpuTeam>({data, bytes, chunk_bytes, results, expected, verdict, first_index});
}

// Copies `count` pieces from `source` to `destination`: see scatter.cuh.
//
//   entries  `count` of ScatterEntry { source_offset, destination_offset, bytes, before }, 8 bytes each; `before` is the
//            sum of `bytes` of all entries before. A multiple of 8
//
// The host has checked bounds; destinations overlap neither each other nor what is read. Blocks: any number; one warp
// copies 16 KiB at once, so that total bytes / 16384 / (threads / 32) are as many as have work. Threads: a multiple of
// 32; 256 is good. source and destination may have any alignment.
extern "C" __global__ void __launch_bounds__(1024)
    gpunvme_scatter(const uint8_t* source, uint8_t* destination, const ScatterEntry* entries, uint64_t count) {
  scatter<GpuTeam>({source, destination, entries, count});
}

// Writes bytes `offset` to `offset + bytes - 1` of the pattern of `seed` to `data`: see pattern.cuh. Blocks: any number.
// Threads: a multiple of 32; 256 is good. data may have any alignment.
extern "C" __global__ void __launch_bounds__(1024)
    gpunvme_pattern_fill(uint8_t* data, uint64_t bytes, uint64_t seed, uint64_t offset) {
  pattern_fill<GpuTeam>({data, bytes, seed, offset});
}

// Counts the bytes that gpunvme_pattern_fill would change.
//
//   verdict  16 bytes, PatternVerdict { wrong_bytes, first_wrong_offset (from data) }: the host writes { 0, 2^64 - 1 }
//            before. A multiple of 8
extern "C" __global__ void __launch_bounds__(1024)
    gpunvme_pattern_verify(uint8_t* data, uint64_t bytes, uint64_t seed, uint64_t offset, PatternVerdict* verdict) {
  pattern_verify<GpuTeam>({data, bytes, seed, offset}, verdict);
}

// Stores 32 bits to a register, as a doorbell is rung: see store32.cuh. Nothing is read.
//
//   at     where the GPU has the register: a multiple of 4
//   value  its low 32 bits
//
// One block of one thread.
extern "C" __global__ void __launch_bounds__(1) gpunvme_store32(uint32_t* at, uint64_t value) {
  store32<GpuPort>(at, value);
}
