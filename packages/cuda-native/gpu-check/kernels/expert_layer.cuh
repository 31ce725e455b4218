// The other kernels of a model layer that fetches experts: a router, and sums in place of the computation.
#pragma once

#include "fetch.cuh"
#include "warp.cuh"

namespace gpunvme {

// Selects experts, and counts the launch. The experts are distinct if `experts` is a power of two and at least `count`. One warp.
template <class Team>
GPUNVME_DEVICE void route_experts(uint32_t* ids, uint32_t count, uint32_t experts, uint32_t* launches) {
  const uint32_t now = *launches;
  for (uint32_t position = Team::lane(); position < count; position += Team::kLanes)
    ids[position] = (now * 37 + position * (2 * now + 1)) % experts;
  Team::sync_warp(Team::kAllLanes);
  if (Team::lane() == 0) *launches = now + 1;
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

// Sums experts that the host has read, of `count` spans each, with one block per position.
template <class Team>
GPUNVME_DEVICE void sum_read(const ByteSpan* spans, uint32_t count, uint64_t* sums) {
  const uint32_t position = Team::block();
  sum_spans<Team>(count, [&](uint32_t index) { return spans[position * count + index]; }, sums + position);
}

}  // namespace gpunvme
