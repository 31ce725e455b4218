// Copies many pieces of any alignment within GPU memory, such as tensors from the blocks that were read.
#pragma once

#include "warp.cuh"

namespace gpunvme {

struct ScatterEntry {
  // Offsets in the job's source and destination.
  uint64_t source_offset;
  uint64_t destination_offset;
  uint64_t bytes;
  // Sum of `bytes` of all earlier entries, by which warps find their share.
  uint64_t before;
};
static_assert(sizeof(ScatterEntry) == 32, "written by the host");

// Not checked here: the host has checked that each entry is inside source and destination, that destinations overlap
// neither each other nor sources, and that `before` is correct.
struct ScatterJob {
  const uint8_t* source;
  uint8_t* destination;
  const ScatterEntry* entries;
  uint64_t count;
};

// Bytes that a warp copies at a time, across entries, so that large and small tensors are distributed evenly.
constexpr uint64_t kScatterShareBytes = 16384;

// Returns the 16 bytes that start `bytes` (0 to 15) bytes into the first of two quads.
GPUNVME_DEVICE Quad quad_across(const Quad& first, const Quad& second, uint32_t bytes) {
  const auto join = [](uint32_t low, uint32_t high) { return low | static_cast<uint64_t>(high) << 32; };
  const uint64_t a = join(first.word[0], first.word[1]), b = join(first.word[2], first.word[3]);
  const uint64_t c = join(second.word[0], second.word[1]), d = join(second.word[2], second.word[3]);
  const bool upper = bytes >= 8;
  const uint32_t shift = bytes % 8 * 8;
  const uint64_t x = upper ? b : a, y = upper ? c : b, z = upper ? d : c;
  // In two steps, since a shift by 64 is undefined.
  const uint64_t low = x >> shift | y << 1 << (63 - shift), high = y >> shift | z << 1 << (63 - shift);
  return {{static_cast<uint32_t>(low), static_cast<uint32_t>(low >> 32), static_cast<uint32_t>(high),
           static_cast<uint32_t>(high >> 32)}};
}

template <class Team>
GPUNVME_DEVICE void warp_copy_bytes(uint8_t* to, const uint8_t* from, uint64_t bytes) {
  for (uint64_t i = Team::lane(); i < bytes; i += Team::kLanes) to[i] = from[i];
}

// Loads and stores 16 aligned bytes. With different alignments, each store combines two loads.
template <class Team>
GPUNVME_DEVICE void warp_copy(uint8_t* to, const uint8_t* from, uint64_t bytes) {
  const uint32_t skew = static_cast<uint32_t>(reinterpret_cast<uintptr_t>(from) - reinterpret_cast<uintptr_t>(to)) % 16;
  // With different alignments, loads start before and end after the stored bytes. 16 bytes are left at both ends, so
  // that nothing outside the source is read.
  const uint64_t margin = skew == 0 ? 0 : 16;
  const uint64_t head = (0 - reinterpret_cast<uintptr_t>(to)) % 16 + margin;
  if (bytes < head + margin + 16) return warp_copy_bytes<Team>(to, from, bytes);

  const uint64_t count = (bytes - head - margin) / 16;
  auto* quads = reinterpret_cast<Quad*>(to + head);
  const auto* source = reinterpret_cast<const Quad*>(from + head - skew);
  uint64_t i = Team::lane();
  if (skew == 0) {
    constexpr uint32_t step = Team::kLanes;
    for (; i + 3 * step < count; i += 4 * step) {
      const Quad four[4] = {source[i], source[i + step], source[i + 2 * step], source[i + 3 * step]};
      for (uint32_t j = 0; j < 4; j++) quads[i + j * step] = four[j];
    }
    for (; i < count; i += step) quads[i] = source[i];
  } else {
    for (; i < count; i += Team::kLanes) quads[i] = quad_across(source[i], source[i + 1], skew);
  }
  warp_copy_bytes<Team>(to, from, head);
  const uint64_t done = head + count * 16;
  warp_copy_bytes<Team>(to + done, from + done, bytes - done);
}

// Returns where to split an entry between two warps, so that neither stores single bytes there.
GPUNVME_DEVICE uint64_t scatter_cut(const uint8_t* to, uint64_t bytes, uint64_t at) {
  const uint64_t aligned = at + (0 - (reinterpret_cast<uintptr_t>(to) + at)) % 16;
  return aligned < bytes ? aligned : bytes;
}

template <class Team>
GPUNVME_DEVICE void scatter(const ScatterJob& job) {
  if (job.count == 0) return;
  const uint64_t total = job.entries[job.count - 1].before + job.entries[job.count - 1].bytes;
  const uint64_t warps = Team::threads() / Team::kLanes;
  const uint64_t step = warps * Team::blocks() * kScatterShareBytes;
  uint64_t begin = (Team::block() * warps + Team::thread() / Team::kLanes) * kScatterShareBytes;

  for (; begin < total; begin += step) {
    const uint64_t end = begin + kScatterShareBytes;
    // The last entry that starts at or before the share.
    uint64_t index = 0;
    for (uint64_t above = job.count; above - index > 1;) {
      const uint64_t middle = index + (above - index) / 2;
      if (job.entries[middle].before <= begin) index = middle;
      else above = middle;
    }
    for (; index < job.count && job.entries[index].before < end; index++) {
      const ScatterEntry entry = job.entries[index];
      uint8_t* to = job.destination + entry.destination_offset;
      const uint64_t first = entry.before < begin ? scatter_cut(to, entry.bytes, begin - entry.before) : 0;
      const uint64_t last = scatter_cut(to, entry.bytes, end - entry.before);
      warp_copy<Team>(to + first, job.source + entry.source_offset + first, last - first);
    }
  }
}

}  // namespace gpunvme
