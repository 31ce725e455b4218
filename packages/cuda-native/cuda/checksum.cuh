// CRC-32 of many chunks in parallel: the checksum of an image's chunk table (CRC-32/ISO-HDLC, zlib's `crc32`).
//
// A CRC is the remainder of the data as one polynomial over GF(2), so it can be computed in any order: parts are
// shifted to their place by multiplication with a power of x, and added by exclusive or. Each thread of a block
// processes every n-th 16 bytes of a chunk, so that the threads of a warp read adjacent bytes. It keeps four
// remainders, one per word of its 16 bytes. Shifting a remainder by a whole row of the block takes one table look-up
// per byte, as any table-driven CRC does, so interleaving the rows costs nothing.
//
// Bits are reflected, as in the CRC's definition: x^0 is bit 31, and the first byte of the data is the low byte.
#pragma once

#include "warp.cuh"

namespace gpunvme {

// x^32 modulo the polynomial: the polynomial without its x^32 term.
constexpr uint32_t kCrcX32 = 0xedb88320;

GPUNVME_DEVICE constexpr uint32_t crc_multiply(uint32_t a, uint32_t b) {
  uint32_t product = 0;
  GPUNVME_ROLLED
  for (; a != 0; a <<= 1) {
    product ^= b & (0 - (a >> 31));
    b = (b >> 1) ^ (kCrcX32 & (0 - (b & 1)));
  }
  return product;
}

// Returns x^(128 * quads), which shifts a remainder by `quads` times 16 bytes. `quads` is below 2048.
GPUNVME_DEVICE uint32_t crc_quads(uint32_t quads) {
  constexpr uint32_t x64 = crc_multiply(kCrcX32, kCrcX32);
  uint32_t power = crc_multiply(x64, x64);
  uint32_t product = 0x80000000;
  GPUNVME_ROLLED
  for (; quads != 0; quads >>= 1) {
    if (quads & 1) product = crc_multiply(product, power);
    if (quads > 1) power = crc_multiply(power, power);
  }
  return product;
}

GPUNVME_DEVICE uint32_t crc_bytes(uint32_t crc, const uint8_t* data, uint64_t bytes) {
  GPUNVME_ROLLED
  for (uint64_t i = 0; i < bytes; i++) {
    crc ^= data[i];
    GPUNVME_ROLLED
    for (uint32_t bit = 0; bit < 8; bit++) crc = (crc >> 1) ^ (kCrcX32 & (0 - (crc & 1)));
  }
  return crc;
}

// Number of chunks that do not match, and the index of the first. The host sets it to { 0, 0xffffffff } before the
// first launch; launches accumulate.
struct ChecksumVerdict {
  uint32_t mismatches;
  uint32_t first_mismatch;
};
static_assert(sizeof(ChecksumVerdict) == 8, "read back as 8 bytes");

struct ChecksumJob {
  // Of any alignment. Chunk i starts at data + i * chunk_bytes; the last one may be shorter.
  const uint8_t* data;
  uint64_t bytes;
  uint64_t chunk_bytes;
  // Checksums of the chunks; null to omit them.
  uint32_t* results;
  // Expected checksums, and the result of the comparison; both null for no comparison.
  const uint32_t* expected;
  ChecksumVerdict* verdict;
  // Added to the chunk's index in verdict->first_mismatch.
  uint64_t first_index;
};

struct ChecksumShared {
  // Tables that shift a remainder by a row, one per byte.
  uint32_t row[4][256];
  // Partial results of the warps, for a chunk and the next one, which fast warps start while thread 0 combines these.
  uint32_t parts[2][32];
};

// The 16-byte quads of a chunk, and the rest after them.
struct ChecksumSpan {
  const uint8_t* begin;
  // `begin` or up to 15 bytes before it, aligned.
  const Quad* quads;
  uint64_t count;
  const uint8_t* rest;
  uint64_t rest_bytes;
};

GPUNVME_DEVICE ChecksumSpan checksum_span(const uint8_t* begin, uint64_t bytes) {
  const uint64_t before = reinterpret_cast<uintptr_t>(begin) % 16;
  const uint64_t after = (before + bytes) % 16;
  // The first four bytes are complemented when quads are read, so they must be in quads; otherwise none are used.
  const bool whole = bytes >= after + 4;
  return {begin, reinterpret_cast<const Quad*>(begin - before), whole ? (before + bytes - after) / 16 : 0,
          whole ? begin + (bytes - after) : begin, whole ? after : bytes};
}

// Reads four bytes that may start before the chunk, as leading zeros, or contain some of its first four bytes. A CRC
// starts as all ones, which equals zero with the first 32 bits complemented.
GPUNVME_DEVICE uint32_t checksum_first_bytes(const uint8_t* begin, const uint8_t* at) {
  uint32_t word = 0;
  GPUNVME_ROLLED
  for (uint32_t i = 0; i < 4; i++)
    if (at + i >= begin) word |= (at[i] ^ (at + i < begin + 4 ? 0xffu : 0u)) << (i * 8);
  return word;
}

GPUNVME_DEVICE Quad checksum_first_quads(const ChecksumSpan& span, uint64_t index) {
  const auto* at = reinterpret_cast<const uint8_t*>(span.quads + index);
  return {{checksum_first_bytes(span.begin, at), checksum_first_bytes(span.begin, at + 4),
           checksum_first_bytes(span.begin, at + 8), checksum_first_bytes(span.begin, at + 12)}};
}

GPUNVME_DEVICE void checksum_add_row(const ChecksumShared& shared, uint32_t (&remainder)[4], const Quad& quad) {
  for (uint32_t i = 0; i < 4; i++) {
    const uint32_t old = remainder[i];
    remainder[i] = shared.row[0][old & 255] ^ shared.row[1][old >> 8 & 255] ^ shared.row[2][old >> 16 & 255] ^
                   shared.row[3][old >> 24] ^ quad.word[i];
  }
}

// Processes every n-th quad; the last is quad `thread` of the last row. The first row is padded with leading zeros, so
// that all threads have the same number of quads.
template <class Team>
GPUNVME_DEVICE uint32_t checksum_column(const ChecksumShared& shared, const ChecksumSpan& span) {
  const uint64_t threads = Team::threads();
  uint64_t rows = (span.count + threads - 1) / threads;
  const uint64_t zeros = rows * threads - span.count;
  uint64_t at = Team::thread();
  uint32_t remainder[4] = {};

  // Only these rows contain padding or one of the first two quads.
  GPUNVME_ROLLED
  for (uint32_t row = 0; row < 2 && rows > 0; row++, rows--, at += threads) {
    Quad quad = {};
    if (at >= zeros + 2) quad = span.quads[at - zeros];
    else if (at >= zeros) quad = checksum_first_quads(span, at - zeros);
    checksum_add_row(shared, remainder, quad);
  }
  // Four at a time, since otherwise each look-up waits for memory.
  const Quad* from = span.quads + (at - zeros);
  for (; rows >= 4; rows -= 4, from += 4 * threads) {
    const Quad quads[4] = {from[0], from[threads], from[2 * threads], from[3 * threads]};
    for (const Quad& quad : quads) checksum_add_row(shared, remainder, quad);
  }
  GPUNVME_ROLLED
  for (; rows > 0; rows--, from += threads) checksum_add_row(shared, remainder, *from);

  uint32_t all = remainder[0];
  for (uint32_t i = 1; i < 4; i++) all = crc_multiply(kCrcX32, all) ^ remainder[i];
  return all;
}

template <class Team>
GPUNVME_DEVICE void checksum_report(const ChecksumJob& job, uint64_t chunk, uint32_t crc) {
  if (job.results != nullptr) job.results[chunk] = crc;
  if (job.expected == nullptr || job.expected[chunk] == crc) return;
  Team::atomic_add(&job.verdict->mismatches, 1u);
  Team::atomic_min(&job.verdict->first_mismatch, static_cast<uint32_t>(job.first_index + chunk));
}

// One block per chunk; with fewer blocks, each processes several. At most 1024 threads.
template <class Team>
GPUNVME_DEVICE void checksum(const ChecksumJob& job) {
  auto& shared = Team::template shared<ChecksumShared>();
  const uint32_t thread = Team::thread(), threads = Team::threads();
  const uint32_t row = crc_quads(threads);
  GPUNVME_ROLLED
  for (uint32_t i = thread; i < 1024; i += threads)
    shared.row[i / 256][i % 256] = crc_multiply(i % 256 << (i / 256 * 8), row);
  // From the last word of this thread's quads to the end of the row.
  const uint32_t to_end = crc_multiply(kCrcX32, crc_quads(threads - 1 - thread));
  Team::sync_block();

  uint32_t turn = 0;
  for (uint64_t chunk = Team::block(); chunk * job.chunk_bytes < job.bytes; chunk += Team::blocks(), turn ^= 1) {
    const uint64_t begin = chunk * job.chunk_bytes;
    const uint64_t left = job.bytes - begin;
    const ChecksumSpan span = checksum_span(job.data + begin, left < job.chunk_bytes ? left : job.chunk_bytes);
    const uint32_t part = warp_xor<Team>(crc_multiply(checksum_column<Team>(shared, span), to_end));
    if (Team::lane() == 0) shared.parts[turn][thread / Team::kLanes] = part;
    Team::sync_block();
    if (thread == 0) {
      uint32_t crc = span.count == 0 ? 0xffffffff : 0;
      GPUNVME_ROLLED
      for (uint32_t warp = 0; warp < threads / Team::kLanes; warp++) crc ^= shared.parts[turn][warp];
      checksum_report<Team>(job, chunk, ~crc_bytes(crc, span.rest, span.rest_bytes));
    }
  }
}

}  // namespace gpunvme
