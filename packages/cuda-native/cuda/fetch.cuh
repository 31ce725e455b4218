// Fetches experts on the GPU: a kernel reads and verifies the experts that a router has selected, without the host.
//
//   __global__ void fetch_experts(gnv::Device device, gnv_fetch fetch) { gnv::fetch(device, fetch); }
//   __global__ void compute(gnv_fetch fetch, ...) {
//     const gnv_fetch_result& result = fetch.results[position];
//     if (result.ending != GNV_FETCH_VERIFIED) return;  // the host reads the results afterwards
//     const void* weights = gnv::fetched(fetch, position, 0);  // the expert's first tensor
//     ...
//   }
//
// Launch the router, the fetch and the computation in one stream, or capture them in a CUDA graph. All threads of the grid call
// `fetch`, with any number of blocks. gpunvme_fetch.h defines the layout; docs/fetch.md has the rules.
//
// - Experts are divided into reads of at most max_read_bytes, which are numbered across all experts and distributed round-robin
//   over the warps. Each lane has one read in flight.
// - A warp verifies the reads of its lanes one after another: it XORs the CRC-32 of a read's bytes, shifted to their position,
//   into the CRC-32 of the extent. No block waits for another.
// - The thread that counts the last read of an expert compares the checksums, clears the progress for the next fetch, and
//   stores the result.
#pragma once

#include "checksum.cuh"
#include "fetch_plan.cuh"
#include "gpunvme.cuh"

namespace gpunvme {

// Returns x^(8 * bytes), the factor that shifts a remainder by `bytes` bytes.
GPUNVME_DEVICE uint32_t crc_shift(uint64_t bytes) {
  uint32_t power = 0x00800000, product = 0x80000000;
  GPUNVME_ROLLED
  for (; bytes != 0; bytes >>= 1) {
    if (bytes & 1) product = crc_multiply(product, power);
    if (bytes > 1) power = crc_multiply(power, power);
  }
  return product;
}

// Presents a warp as a block, for checksum_column.
template <class Team>
struct WarpTeam {
  static GPUNVME_DEVICE uint32_t thread() { return Team::lane(); }
  static GPUNVME_DEVICE uint32_t threads() { return Team::kLanes; }
};

// Computes a CRC-32 with all lanes of a warp. The tables of `shared` shift by kLanes quads; `to_end` shifts from the last
// word of this lane's quads to the end of a row.
template <class Team>
GPUNVME_DEVICE uint32_t warp_crc32(const ChecksumShared& shared, uint32_t to_end, const uint8_t* data, uint64_t bytes) {
  const ChecksumSpan span = checksum_span(data, bytes);
  const uint32_t sum = warp_xor<Team>(crc_multiply(checksum_column<WarpTeam<Team>>(shared, span), to_end));
  return ~crc_bytes(span.count == 0 ? 0xffffffff : sum, span.rest, span.rest_bytes);
}

struct FetchShared {
  ChecksumShared checksum;
  // Number of reads of all positions up to and including this one.
  uint64_t read_ends[GNV_FETCH_MAX_POSITIONS];
};

template <class Port>
GPUNVME_DEVICE void store_result(const gnv_fetch& fetch, uint32_t at, const gnv_fetch_result& result) {
  gnv_fetch_result& to = fetch.results[at];
  to.reason = result.reason;
  to.position = result.position;
  to.extent = result.extent;
  to.expected = result.expected;
  to.actual = result.actual;
  to.read = result.read;
  // Stored last: a thread that acquires it sees the other words, and the data.
  Port::store_release32_gpu(&to.ending, result.ending);
}

// Stores a result at its position, and at all later positions with the same identifier.
template <class Port>
GPUNVME_DEVICE void end_request(const gnv_fetch& fetch, const gnv_fetch_result& result) {
  const uint32_t id = fetch.ids[result.position];
  GPUNVME_ROLLED
  for (uint32_t at = result.position; at < fetch.count; at++)
    if (fetch.ids[at] == id) store_result<Port>(fetch, at, result);
}

GPUNVME_DEVICE uint32_t* crcs_of(const gnv_fetch& fetch, uint32_t position) {
  return fetch.crcs + uint64_t{position} * fetch.table->max_extents;
}

// Returns whether all queues of all drives run. While one does not, its controller may still write to the memory of a command:
// also to the destination of a later fetch, whose reads go through other queues.
template <class Port>
GPUNVME_DEVICE bool all_queues_run(const gnv_device& device) {
  uint32_t states = GNV_RUNNING;
  GPUNVME_ROLLED
  for (uint32_t index = 0; index < device.drive_count; index++) {
    const gnv_drive& drive = device.drives[index];
    GPUNVME_ROLLED
    for (uint32_t queue = 0; queue < drive.queue_count; queue++)
      states |= Port::load_relaxed32(&device.queues[drive.first_queue + queue].state);
  }
  return states == GNV_RUNNING;
}

// Stores the result of an expert after its last read, and clears its progress.
template <class Port>
GPUNVME_DEVICE void end_expert(const gnv_device& device, const gnv_fetch& fetch, uint32_t position) {
  const gnv_expert& expert = expert_of(fetch, position);
  gnv_fetch_progress& progress = fetch.progress[position];
  uint32_t* crcs = crcs_of(fetch, position);
  gnv_fetch_result result = {GNV_FETCH_VERIFIED, 0, position, 0, 0, 0, 0};
  GPUNVME_ROLLED
  for (uint32_t index = 0; index < expert.extent_count; index++) {
    const uint32_t expected = extents_of(fetch, expert)[index].crc32;
    const uint32_t actual = Port::load_relaxed32(crcs + index);
    if (actual != expected && result.ending == GNV_FETCH_VERIFIED)
      result = {GNV_FETCH_CORRUPT, 0, position, index, expected, actual, 0};
    crcs[index] = 0;
  }
  const uint64_t failure = Port::load_relaxed64(&progress.failure);
  if (failure != 0) {
    const uint64_t outcome = failure & ((1ULL << 40) - 1);
    result = {GNV_FETCH_READ_FAILED, 0, position, static_cast<uint32_t>(failure >> 48), 0, 0, outcome};
  } else if (!all_queues_run<Port>(device)) {
    result = {GNV_FETCH_READ_FAILED, 0, position, 0, 0, 0, refusal(GNV_HALTED)};
  }
  progress.failure = 0;
  progress.ended = 0;
  end_request<Port>(fetch, result);
}

// Counts the reads of all positions, and ends requests without reads.
template <class Team, class Port>
GPUNVME_DEVICE void plan_reads(const gnv_device& device, const gnv_fetch& fetch, FetchShared& shared) {
  GPUNVME_ROLLED
  for (uint32_t position = Team::thread(); position < fetch.count; position += Team::threads()) {
    uint64_t reads = 0;
    if (first_position_of(fetch, position) == position) {
      gnv_fetch_result result = {GNV_FETCH_SKIPPED, 0, position, 0, 0, 0, 0};
      if (fetch.ids[position] != GNV_FETCH_SKIP) {
        result.reason = plan_request(device, fetch, position, reads);
        result.ending = GNV_FETCH_REJECTED;
      }
      if (reads == 0 && position % Team::blocks() == Team::block()) end_request<Port>(fetch, result);
    }
    shared.read_ends[position] = reads;
  }
  Team::sync_block();
  if (Team::thread() == 0) {
    GPUNVME_ROLLED
    for (uint32_t position = 1; position < fetch.count; position++)
      shared.read_ends[position] += shared.read_ends[position - 1];
  }
  Team::sync_block();
}

// Finds the position of a read by binary search.
GPUNVME_DEVICE uint32_t position_of(const uint64_t* read_ends, uint32_t count, uint64_t read) {
  uint32_t low = 0, high = count;
  while (low < high) {
    const uint32_t middle = (low + high) / 2;
    if (read_ends[middle] > read) high = middle;
    else low = middle + 1;
  }
  return low;
}

// Executes and verifies one read for each lane with `reads`.
template <class Team, class Port>
GPUNVME_DEVICE void fetch_round(const gnv::BasicDevice<Team, Port>& device, const gnv_fetch& fetch,
                                const FetchShared& shared, uint32_t to_end, uint64_t number, bool reads) {
  const uint32_t mask = Team::ballot(Team::kAllLanes, reads);
  FetchRead read = {};
  uint64_t in_expert = 0;
  uint32_t shift = 0;
  bool is_read = false;
  if (reads) {
    const uint32_t position = position_of(shared.read_ends, fetch.count, number);
    const uint64_t before = position == 0 ? 0 : shared.read_ends[position - 1];
    in_expert = shared.read_ends[position] - before;
    read = read_of(device, fetch, position, number - before);
    const gnv::Ticket ticket = device.read(read.drive, read.slba, read.blocks, fetch.buffer, read.offset, mask);
    // Computed while the read is in flight.
    shift = crc_shift(read.bytes_after);
    const gnv::Outcome outcome = device.wait(ticket, mask);
    is_read = outcome.ok();
    if (!is_read)
      Port::cas64_gpu(&fetch.progress[position].failure, 0, outcome.word() | uint64_t{read.extent} << 48);
  }
  // Makes the data of each lane's read visible to the other lanes.
  Team::sync_warp(Team::kAllLanes);
  const uint64_t address = reinterpret_cast<uintptr_t>(fetch.buffer.data) + read.data_offset;
  uint32_t crc = 0;
  for (uint32_t left = Team::ballot(Team::kAllLanes, is_read); left != 0; left &= left - 1) {
    const uint32_t lane = lowest_bit(left);
    const auto* data = reinterpret_cast<const uint8_t*>(Team::shuffle(Team::kAllLanes, address, lane));
    const uint64_t bytes = Team::shuffle(Team::kAllLanes, read.data_bytes, lane);
    const uint32_t of_lane = warp_crc32<Team>(shared.checksum, to_end, data, bytes);
    if (lane == Team::lane()) crc = of_lane;
  }
  if (is_read) Port::xor32_gpu(crcs_of(fetch, read.position) + read.extent, crc_multiply(crc, shift));
  // The thread that counts the last read of an expert ends it.
  if (reads && Port::add32_gpu(&fetch.progress[read.position].ended, 1) + 1 == in_expert)
    end_expert<Port>(device, fetch, read.position);
}

template <class Team, class Port>
GPUNVME_DEVICE void fetch_experts(const gnv::BasicDevice<Team, Port>& device, const gnv_fetch& fetch) {
  uint32_t reason = fetch.count > GNV_FETCH_MAX_POSITIONS ? GNV_FETCH_BAD_COUNT : 0;
  // Lanes of an incomplete warp would wait for the others at the first ballot.
  if (Team::threads() % Team::kLanes != 0) reason = GNV_FETCH_BAD_BLOCK;
  if (reason != 0) {
    const uint32_t threads = Team::threads() * Team::blocks();
    for (uint32_t at = Team::block() * Team::threads() + Team::thread(); at < fetch.count; at += threads)
      store_result<Port>(fetch, at, {GNV_FETCH_REJECTED, reason, at, 0, 0, 0, 0});
    return;
  }
  if (fetch.count == 0) return;
  auto& shared = Team::template shared<FetchShared>();
  const uint32_t row = crc_quads(Team::kLanes);
  GPUNVME_ROLLED
  for (uint32_t i = Team::thread(); i < 1024; i += Team::threads())
    shared.checksum.row[i / 256][i % 256] = crc_multiply(i % 256 << (i / 256 * 8), row);
  plan_reads<Team, Port>(device, fetch, shared);

  const uint32_t to_end = crc_multiply(kCrcX32, crc_quads(Team::kLanes - 1 - Team::lane()));
  const uint64_t total = shared.read_ends[fetch.count - 1];
  const uint64_t warps_in_block = Team::threads() / Team::kLanes, warps = warps_in_block * Team::blocks();
  const uint64_t warp = Team::block() * warps_in_block + Team::thread() / Team::kLanes;
  // Adjacent reads go to different warps, and therefore to different queues.
  for (uint64_t first = warp; first < total; first += warps * Team::kLanes) {
    const uint64_t number = first + warps * Team::lane();
    fetch_round<Team, Port>(device, fetch, shared, to_end, number, number < total);
  }
}

}  // namespace gpunvme

namespace gnv {

// Returns the data of an extent of the expert at a position whose ending is GNV_FETCH_VERIFIED.
GPUNVME_DEVICE const uint8_t* fetched(const gnv_fetch& fetch, uint32_t position, uint32_t extent) {
  const uint32_t place = fetch.results[position].position;
  const gnv_extent& at = gpunvme::extents_of(fetch, gpunvme::expert_of(fetch, place))[extent];
  return static_cast<const uint8_t*>(fetch.buffer.data) + fetch.destinations[place].offset + at.offset + at.skip;
}

#if defined(__CUDACC__)
// Executes a fetch. All threads of the grid call it. The number of threads per block is a multiple of 32.
GPUNVME_DEVICE void fetch(const Device& device, const gnv_fetch& fetch) {
  gpunvme::fetch_experts<gpunvme::GpuTeam, gpunvme::GpuPort>(device, fetch);
}
#endif

}  // namespace gnv
