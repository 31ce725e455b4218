// Fills memory with a pattern that depends on the position, and finds bytes that differ from it.
//
// Word i of a pattern is the i-th output of SplitMix64 with `seed`, least significant byte first. Byte x of the pattern
// is byte x % 8 of word x / 8.
#pragma once

#include "warp.cuh"

namespace gpunvme {

// Steele, Lea, Flood, "Fast Splittable Pseudorandom Number Generators", OOPSLA 2014, with Stafford's variant 13.
GPUNVME_DEVICE uint64_t pattern_word(uint64_t seed, uint64_t index) {
  uint64_t word = seed + (index + 1) * 0x9e3779b97f4a7c15;
  word = (word ^ word >> 30) * 0xbf58476d1ce4e5b9;
  word = (word ^ word >> 27) * 0x94d049bb133111eb;
  return word ^ word >> 31;
}

// Returns eight bytes of the pattern from `offset` on.
GPUNVME_DEVICE uint64_t pattern_at(uint64_t seed, uint64_t offset) {
  const uint32_t shift = offset % 8 * 8;
  const uint64_t word = pattern_word(seed, offset / 8) >> shift;
  return shift == 0 ? word : word | pattern_word(seed, offset / 8 + 1) << (64 - shift);
}

// The host sets it to { 0, 2^64 - 1 } before the first launch; launches accumulate.
struct PatternVerdict {
  uint64_t wrong_bytes;
  // From the start of the job's data.
  uint64_t first_wrong_offset;
};

struct PatternJob {
  // Of any alignment.
  uint8_t* data;
  uint64_t bytes;
  uint64_t seed;
  // Offset of data[0] in the pattern.
  uint64_t offset;
};

// Calls `each(offset, bytes)` once per piece in the whole launch: for 8 aligned bytes, and for single bytes at both
// ends.
template <class Team, class Each>
GPUNVME_DEVICE void pattern_pieces(const PatternJob& job, const Each& each) {
  const uint64_t threads = static_cast<uint64_t>(Team::threads()) * Team::blocks();
  const uint64_t thread = static_cast<uint64_t>(Team::threads()) * Team::block() + Team::thread();
  const uint64_t unaligned = (0 - reinterpret_cast<uintptr_t>(job.data)) % 8;
  const uint64_t head = unaligned < job.bytes ? unaligned : job.bytes;
  const uint64_t words = (job.bytes - head) / 8;
  const uint64_t tail = head + words * 8;
  for (uint64_t i = thread; i < words; i += threads) each(head + i * 8, 8);
  for (uint64_t i = thread; i < head; i += threads) each(i, 1);
  for (uint64_t i = tail + thread; i < job.bytes; i += threads) each(i, 1);
}

template <class Team>
GPUNVME_DEVICE void pattern_fill(const PatternJob& job) {
  pattern_pieces<Team>(job, [&](uint64_t offset, uint32_t bytes) {
    const uint64_t value = pattern_at(job.seed, job.offset + offset);
    if (bytes == 8) *reinterpret_cast<uint64_t*>(job.data + offset) = value;
    else job.data[offset] = static_cast<uint8_t>(value);
  });
}

template <class Team>
GPUNVME_DEVICE void pattern_verify(const PatternJob& job, PatternVerdict* verdict) {
  uint64_t wrong = 0, first = ~0ull;
  pattern_pieces<Team>(job, [&](uint64_t offset, uint32_t bytes) {
    const uint64_t value = pattern_at(job.seed, job.offset + offset);
    const uint64_t differing = bytes == 8 ? *reinterpret_cast<const uint64_t*>(job.data + offset) ^ value
                                          : job.data[offset] ^ (value & 255);
    if (differing == 0) return;
    for (uint32_t i = bytes; i-- > 0;)
      if ((differing >> (i * 8) & 255) != 0) {
        wrong++;
        if (offset + i < first) first = offset + i;
      }
  });
  wrong = warp_sum<Team>(wrong);
  first = warp_min<Team>(first);
  if (Team::lane() != 0 || wrong == 0) return;
  Team::atomic_add(&verdict->wrong_bytes, wrong);
  Team::atomic_min(&verdict->first_wrong_offset, first);
}

}  // namespace gpunvme
