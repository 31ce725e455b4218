// The other kernels of a model layer that fetches experts: a router, and sums in place of the computation.
#pragma once

#include "fetch.cuh"
#include "warp.cuh"

namespace gpunvme {

// Selects experts, and counts the launch. The experts are distinct if `experts` is a power of two and at least `count`. A host
// that acquires the count reads the experts. One warp.
template <class Team, class Port>
GPUNVME_DEVICE void route_experts(uint32_t* ids, uint32_t count, uint32_t experts, uint32_t* launches) {
  const uint32_t now = *launches;
  for (uint32_t position = Team::lane(); position < count; position += Team::kLanes)
    ids[position] = (now * 37 + position * (2 * now + 1)) % experts;
  Team::sync_warp(Team::kAllLanes);
  if (Team::lane() == 0) Port::store_release32(launches, now + 1);
}

struct ByteSpan {
  const uint8_t* data;
  uint64_t bytes;
};

// Sums the bytes of `count` spans with one block. Each byte is multiplied by its position in the span, from 1.
template <class Team, class SpanAt>
GPUNVME_DEVICE void sum_spans(uint32_t count, const SpanAt& span_at, uint64_t* result) {
  auto& sum = Team::template shared<uint64_t>();
  if (Team::thread() == 0) sum = 0;
  Team::sync_block();
  uint64_t own = 0;
  for (uint32_t index = 0; index < count; index++) {
    const ByteSpan span = span_at(index);
    for (uint64_t at = Team::thread(); at < span.bytes; at += Team::threads()) own += span.data[at] * (at + 1);
  }
  Team::atomic_add(&sum, own);
  Team::sync_block();
  if (Team::thread() == 0) *result = sum;
}

struct ExpertSum {
  // 0 unless the expert is verified.
  uint64_t sum;
  uint32_t expert;
  // gnv_fetch_ending.
  uint32_t ending;
};
static_assert(sizeof(ExpertSum) == 16, "read by the host");

// Sums the experts of a fetch, with one block per position.
template <class Team>
GPUNVME_DEVICE void sum_experts(const gnv_fetch& fetch, ExpertSum* results) {
  const uint32_t position = Team::block();
  ExpertSum& result = results[position];
  const uint32_t ending = fetch.results[position].ending;
  if (Team::thread() == 0) result = {0, fetch.ids[position], ending};
  if (ending != GNV_FETCH_VERIFIED) return;
  const gnv_expert& expert = expert_of(fetch, position);
  const auto span_at = [&](uint32_t index) {
    return ByteSpan{gnv::fetched(fetch, position, index), extents_of(fetch, expert)[index].bytes};
  };
  sum_spans<Team>(expert.extent_count, span_at, &result.sum);
}

// A range of an expert's bytes in its memory, and its checksum.
struct ReadExtent {
  uint64_t offset;
  uint32_t bytes;
  uint32_t crc32;
};
static_assert(sizeof(ReadExtent) == 16, "written by the host");

// Experts of a layer that the host has read, one per position.
struct ReadExperts {
  const uint32_t* ids;
  // By expert of the layer, `per_expert` each.
  const ReadExtent* extents;
  uint64_t per_expert;
  // Memory of position 0, and the distance between two positions.
  const uint8_t* data;
  uint64_t stride_bytes;
};
static_assert(sizeof(ReadExperts) == 40, "written by the host");

GPUNVME_DEVICE const ReadExtent& read_extent(const ReadExperts& read, uint32_t position, uint64_t index) {
  return read.extents[read.ids[position] * read.per_expert + index];
}

GPUNVME_DEVICE ByteSpan read_span(const ReadExperts& read, uint32_t position, uint64_t index) {
  const ReadExtent& extent = read_extent(read, position, index);
  return {read.data + position * read.stride_bytes + extent.offset, extent.bytes};
}

// Presents a block as a grid, for checksum().
template <class Team>
struct BlockTeam : Team {
  static GPUNVME_DEVICE uint32_t block() { return 0; }
  static GPUNVME_DEVICE uint32_t blocks() { return 1; }
};

// Verifies experts with one block per extent. `verdict` counts blocks whose extent does not match.
template <class Team>
GPUNVME_DEVICE void verify_read(const ReadExperts& read, ChecksumVerdict* verdict) {
  const auto position = static_cast<uint32_t>(Team::block() / read.per_expert);
  const uint64_t index = Team::block() % read.per_expert;
  const ByteSpan span = read_span(read, position, index);
  const uint32_t* expected = &read_extent(read, position, index).crc32;
  checksum<BlockTeam<Team>>({span.data, span.bytes, span.bytes, nullptr, expected, verdict, Team::block()});
}

struct ReadSum {
  uint64_t sum;
  // Set by the host to 0 before the launch. A host that acquires a 1 reads the sum and the verdicts of earlier kernels.
  uint32_t is_done;
  uint32_t reserved;
};
static_assert(sizeof(ReadSum) == 16, "read by the host");

// Sums experts with one block per position.
template <class Team, class Port>
GPUNVME_DEVICE void sum_read(const ReadExperts& read, ReadSum* results) {
  const uint32_t position = Team::block();
  ReadSum& result = results[position];
  const auto span_at = [&](uint32_t index) { return read_span(read, position, index); };
  sum_spans<Team>(static_cast<uint32_t>(read.per_expert), span_at, &result.sum);
  if (Team::thread() == 0) Port::store_release32(&result.is_done, 1);
}

}  // namespace gpunvme
