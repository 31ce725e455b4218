// Plans a fetch: checks its requests against table, device and buffer, and divides them into reads. See fetch.cuh.
#pragma once

#include "gpunvme_fetch.h"
#include "target.cuh"

namespace gpunvme {

template <class T>
GPUNVME_DEVICE const T* in_table(const gnv_table& table, uint64_t offset) {
  return reinterpret_cast<const T*>(reinterpret_cast<const uint8_t*>(&table) + offset);
}

// Returns the expert at a position. The layer and the identifier must exist.
GPUNVME_DEVICE const gnv_expert& expert_of(const gnv_fetch& fetch, uint32_t position) {
  const gnv_table& table = *fetch.table;
  const gnv_layer& layer = in_table<gnv_layer>(table, table.layers_offset)[fetch.layer];
  return in_table<gnv_expert>(table, table.experts_offset)[layer.first_expert + fetch.ids[position]];
}

GPUNVME_DEVICE const gnv_extent* extents_of(const gnv_fetch& fetch, const gnv_expert& expert) {
  return in_table<gnv_extent>(*fetch.table, fetch.table->extents_offset) + expert.first_extent;
}

// Returns the first position with the same identifier.
GPUNVME_DEVICE uint32_t first_position_of(const gnv_fetch& fetch, uint32_t position) {
  const uint32_t id = fetch.ids[position];
  uint32_t first = 0;
  GPUNVME_ROLLED
  while (fetch.ids[first] != id) first++;
  return first;
}

// Number of blocks in an extent, and in each of its reads except the last.
struct ExtentReads {
  uint64_t blocks;
  uint64_t in_read;

  static GPUNVME_DEVICE ExtentReads of(const gnv_fetch& fetch, const gnv_extent& extent, const gnv_drive& drive) {
    const uint64_t block_bytes = 1ULL << drive.block_shift;
    const uint64_t wanted = fetch.max_read_bytes >> drive.block_shift;
    uint64_t in_read = wanted == 0 ? 1 : wanted;
    if (fetch.max_read_bytes == 0 || wanted > drive.max_blocks) in_read = drive.max_blocks;
    return {(extent.skip + extent.bytes + block_bytes - 1) >> drive.block_shift, in_read};
  }
  GPUNVME_DEVICE uint64_t count() const { return (blocks + in_read - 1) / in_read; }
};

// Larger experts are rejected, so that no sum below overflows.
constexpr uint64_t kMaxExpertBytes = 1ULL << 40;

GPUNVME_DEVICE uint32_t problem_of(const gnv_device& device, const gnv_table& table, const gnv_expert& expert,
                                   const gnv_extent& extent) {
  if (extent.drive >= device.drive_count || device.drives[extent.drive].max_blocks == 0) return GNV_FETCH_BAD_DRIVE;
  const gnv_drive& drive = device.drives[extent.drive];
  if (drive.block_shift != table.block_shift) return GNV_FETCH_BAD_DRIVE;
  const uint64_t block_bytes = 1ULL << drive.block_shift;
  if (extent.offset % 16 != 0 || extent.skip >= block_bytes) return GNV_FETCH_BAD_EXTENT;
  if (extent.bytes == 0 || extent.bytes > expert.bytes) return GNV_FETCH_BAD_EXTENT;
  const uint64_t blocks = (extent.skip + extent.bytes + block_bytes - 1) >> drive.block_shift;
  const uint64_t bytes = blocks << drive.block_shift;
  if (extent.first_block >= drive.blocks || blocks > drive.blocks - extent.first_block) return GNV_FETCH_BAD_EXTENT;
  return bytes > expert.bytes || extent.offset > expert.bytes - bytes ? GNV_FETCH_BAD_EXTENT : 0;
}

GPUNVME_DEVICE uint32_t problem_of(const gnv_buffer& buffer, const gnv_expert& expert, const gnv_destination& to) {
  if (buffer.data == nullptr || to.offset % 16 != 0 || expert.bytes > to.bytes) return GNV_FETCH_BAD_DESTINATION;
  return to.bytes > buffer.bytes || to.offset > buffer.bytes - to.bytes ? GNV_FETCH_BAD_DESTINATION : 0;
}

// Whether the destination of a first position overlaps that of a lower one.
GPUNVME_DEVICE bool overlaps_lower(const gnv_fetch& fetch, uint32_t position) {
  const gnv_destination to = fetch.destinations[position];
  GPUNVME_ROLLED
  for (uint32_t at = 0; at < position; at++) {
    const gnv_destination& lower = fetch.destinations[at];
    const bool overlaps = lower.offset < to.offset ? to.offset - lower.offset < lower.bytes : lower.offset - to.offset < to.bytes;
    // Destinations of other positions are not used.
    if (overlaps && fetch.ids[at] != GNV_FETCH_SKIP && first_position_of(fetch, at) == at) return true;
  }
  return false;
}

// Returns 0 and sets the number of reads of a request, or returns the reason to reject it.
GPUNVME_DEVICE uint32_t plan_request(const gnv_device& device, const gnv_fetch& fetch, uint32_t position,
                                     uint64_t& reads) {
  const gnv_table& table = *fetch.table;
  if (fetch.layer >= table.layer_count) return GNV_FETCH_BAD_LAYER;
  const gnv_layer& layer = in_table<gnv_layer>(table, table.layers_offset)[fetch.layer];
  if (fetch.ids[position] >= layer.expert_count) return GNV_FETCH_BAD_EXPERT;
  if (uint64_t{layer.first_expert} + fetch.ids[position] >= table.expert_count) return GNV_FETCH_BAD_EXPERT;
  const gnv_expert& expert = expert_of(fetch, position);
  if (expert.extent_count == 0) return GNV_FETCH_BAD_EXPERT;
  if (expert.extent_count > table.max_extents || expert.bytes > kMaxExpertBytes) return GNV_FETCH_BAD_EXTENT;
  if (uint64_t{expert.first_extent} + expert.extent_count > table.extent_count) return GNV_FETCH_BAD_EXTENT;
  const uint32_t problem = problem_of(fetch.buffer, expert, fetch.destinations[position]);
  if (problem != 0) return problem;
  if (overlaps_lower(fetch, position)) return GNV_FETCH_BAD_DESTINATION;
  uint64_t sum = 0, end = 0;
  GPUNVME_ROLLED
  for (uint32_t index = 0; index < expert.extent_count; index++) {
    const gnv_extent& extent = extents_of(fetch, expert)[index];
    const uint32_t problem_of_extent = problem_of(device, table, expert, extent);
    if (problem_of_extent != 0) return problem_of_extent;
    const ExtentReads extent_reads = ExtentReads::of(fetch, extent, device.drives[extent.drive]);
    // In order, so that one comparison finds extents that overlap.
    if (extent.offset < end) return GNV_FETCH_BAD_EXTENT;
    end = extent.offset + (extent_reads.blocks << device.drives[extent.drive].block_shift);
    sum += extent_reads.count();
  }
  reads = sum;
  return 0;
}

// A read, and the range of its bytes that is data.
struct FetchRead {
  uint32_t position;
  // Index of the extent in the expert.
  uint32_t extent;
  uint32_t drive;
  uint32_t blocks;
  uint64_t slba;
  // Offsets in the buffer, of the first block and of the data.
  uint64_t offset;
  uint64_t data_offset;
  uint64_t data_bytes;
  // Number of data bytes of the extent after this read.
  uint64_t bytes_after;
};

// Returns read `index` of a request that plan_request has accepted.
GPUNVME_DEVICE FetchRead read_of(const gnv_device& device, const gnv_fetch& fetch, uint32_t position, uint64_t index) {
  const gnv_extent* extents = extents_of(fetch, expert_of(fetch, position));
  uint32_t number = 0;
  ExtentReads reads = ExtentReads::of(fetch, extents[0], device.drives[extents[0].drive]);
  GPUNVME_ROLLED
  while (index >= reads.count()) {
    index -= reads.count();
    number++;
    reads = ExtentReads::of(fetch, extents[number], device.drives[extents[number].drive]);
  }
  const gnv_extent& extent = extents[number];
  const uint32_t shift = device.drives[extent.drive].block_shift;
  const uint64_t first = index * reads.in_read, left = reads.blocks - first;
  const uint64_t count = left < reads.in_read ? left : reads.in_read;
  // In bytes from the start of the extent's first block.
  const uint64_t begin = index == 0 ? extent.skip : first << shift;
  const uint64_t extent_end = extent.skip + extent.bytes, read_end = (first + count) << shift;
  const uint64_t end = read_end < extent_end ? read_end : extent_end;
  const uint64_t base = fetch.destinations[position].offset + extent.offset;
  return {position,      number,       extent.drive, static_cast<uint32_t>(count), extent.first_block + first,
          base + (first << shift), base + begin, end - begin,  extent_end - end};
}

}  // namespace gpunvme
