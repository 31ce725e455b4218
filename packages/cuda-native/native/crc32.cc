// The message is a polynomial over GF(2), and its CRC the remainder modulo P. Data D bits ahead may be added to other
// data after multiplication by x^D, modulo P or not. So 16 bytes at a time are multiplied without carries and added to
// later bytes, in several lanes to hide the multiplier's latency, and only the last 16 bytes are reduced. The method is
// that of V. Gopal et al., "Fast CRC Computation for Generic Polynomials Using PCLMULQDQ Instruction", Intel, 2009,
// section 3 and its section on bit-reflected data; the constants are computed below from P alone.
//
// Bits are reflected, as in the CRC's definition: the first bit of the data is the lowest bit and the highest power.
#include "crc32.h"

#include <array>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace gpunvme {

namespace {

// x^32 modulo P: P without its x^32 term. x^0 is bit 31.
constexpr uint32_t kX32 = 0xedb88320;

constexpr uint32_t TimesX(uint32_t a) {
  return (a >> 1) ^ (kX32 & (0 - (a & 1)));
}

using Tables = std::array<std::array<uint32_t, 256>, 8>;

// Table n has the remainder of each byte followed by n zero bytes.
constexpr Tables MakeTables() {
  Tables tables{};
  for (uint32_t byte = 0; byte < 256; byte++) {
    uint32_t remainder = byte;
    for (auto& table : tables) {
      for (int bit = 0; bit < 8; bit++) remainder = TimesX(remainder);
      table[byte] = remainder;
    }
  }
  return tables;
}

constexpr Tables kTables = MakeTables();

// Continues a remainder, without the complements at the start and end of a CRC.
uint32_t AddByTables(uint32_t remainder, const uint8_t* data, size_t bytes) {
  const auto& t = kTables;
  for (; bytes >= 8; data += 8, bytes -= 8) {
    const uint32_t first = remainder ^ (static_cast<uint32_t>(data[0]) | static_cast<uint32_t>(data[1]) << 8 |
                                        static_cast<uint32_t>(data[2]) << 16 | static_cast<uint32_t>(data[3]) << 24);
    remainder = t[7][first & 255] ^ t[6][first >> 8 & 255] ^ t[5][first >> 16 & 255] ^ t[4][first >> 24] ^
                t[3][data[4]] ^ t[2][data[5]] ^ t[1][data[6]] ^ t[0][data[7]];
  }
  for (; bytes > 0; data++, bytes--) remainder = (remainder >> 8) ^ t[0][(remainder ^ *data) & 255];
  return remainder;
}

uint32_t ByTables(uint32_t crc, const uint8_t* data, size_t bytes) {
  return ~AddByTables(~crc, data, bytes);
}

#if defined(__x86_64__)

constexpr uint64_t PowerOfX(int n) {
  uint32_t power = 0x80000000;
  for (int i = 0; i < n; i++) power = TimesX(power);
  // The product of two reflected 64-bit values is reflected in 127 bits, off by one in a 128-bit register: hence the
  // shift by one. A power has 32 bits, not 64: hence the exponents in Distance are 32 less than the distances.
  return static_cast<uint64_t>(power) << 1;
}

// Factors that shift 16 bytes by kBits. The first 8 bytes, in the low half, are x^64 ahead of the others.
template <int kBits>
struct Distance {
  static constexpr uint64_t kFirst = PowerOfX(kBits + 32);
  static constexpr uint64_t kSecond = PowerOfX(kBits - 32);
};

#define GPUNVME_CLMUL __attribute__((target("pclmul"), always_inline)) inline

GPUNVME_CLMUL __m128i Load(const uint8_t* data) {
  return _mm_loadu_si128(reinterpret_cast<const __m128i*>(data));
}

template <int kBits>
GPUNVME_CLMUL __m128i Move(__m128i a) {
  const __m128i by = _mm_set_epi64x(Distance<kBits>::kSecond, Distance<kBits>::kFirst);
  return _mm_xor_si128(_mm_clmulepi64_si128(a, by, 0x00), _mm_clmulepi64_si128(a, by, 0x11));
}

// Returns the CRC when `last` represents all bytes before `data`.
GPUNVME_CLMUL uint32_t Finish(__m128i last, const uint8_t* data, size_t bytes) {
  for (; bytes >= 16; data += 16, bytes -= 16) last = _mm_xor_si128(Move<128>(last), Load(data));
  uint8_t left[16];
  _mm_storeu_si128(reinterpret_cast<__m128i*>(left), last);
  return ~AddByTables(AddByTables(0, left, sizeof left), data, bytes);
}

__attribute__((target("pclmul"))) uint32_t ByPclmulqdq(uint32_t crc, const uint8_t* data, size_t bytes) {
  if (bytes < 64) return ByTables(crc, data, bytes);
  __m128i a = _mm_xor_si128(Load(data), _mm_cvtsi32_si128(static_cast<int>(~crc)));
  __m128i b = Load(data + 16), c = Load(data + 32), d = Load(data + 48);
  for (data += 64, bytes -= 64; bytes >= 64; data += 64, bytes -= 64) {
    a = _mm_xor_si128(Move<512>(a), Load(data));
    b = _mm_xor_si128(Move<512>(b), Load(data + 16));
    c = _mm_xor_si128(Move<512>(c), Load(data + 32));
    d = _mm_xor_si128(Move<512>(d), Load(data + 48));
  }
  const __m128i ab = _mm_xor_si128(Move<384>(a), Move<256>(b));
  return Finish(_mm_xor_si128(_mm_xor_si128(ab, Move<128>(c)), d), data, bytes);
}

// Prefetch distance: the processor's prefetcher stops at each page. Prefetching beyond the data is harmless.
constexpr size_t kAheadBytes = 4096;

#define GPUNVME_AVX512 __attribute__((target("pclmul,vpclmulqdq,avx512f"), always_inline)) inline

GPUNVME_AVX512 __m512i Load4(const uint8_t* data) {
  return _mm512_loadu_si512(data);
}

// Shifts four times 16 bytes and adds them to `to`.
template <int kBits>
GPUNVME_AVX512 __m512i Move4(__m512i a, __m512i to) {
  constexpr uint64_t first = Distance<kBits>::kFirst, second = Distance<kBits>::kSecond;
  const __m512i by = _mm512_set_epi64(second, first, second, first, second, first, second, first);
  // 0x96: exclusive or of three operands.
  return _mm512_ternarylogic_epi64(_mm512_clmulepi64_epi128(a, by, 0x00), _mm512_clmulepi64_epi128(a, by, 0x11), to,
                                   0x96);
}

__attribute__((target("pclmul,vpclmulqdq,avx512f"))) uint32_t ByAvx512(uint32_t crc, const uint8_t* data,
                                                                       size_t bytes) {
  if (bytes < 256) return ByPclmulqdq(crc, data, bytes);
  const __m128i begin = _mm_cvtsi32_si128(static_cast<int>(~crc));
  __m512i a = _mm512_xor_si512(Load4(data), _mm512_zextsi128_si512(begin));
  __m512i b = Load4(data + 64), c = Load4(data + 128), d = Load4(data + 192);
  for (data += 256, bytes -= 256; bytes >= 256; data += 256, bytes -= 256) {
    for (size_t line = 0; line < 256; line += 64) {
      _mm_prefetch(reinterpret_cast<const char*>(data + kAheadBytes + line), _MM_HINT_T0);
    }
    a = Move4<2048>(a, Load4(data));
    b = Move4<2048>(b, Load4(data + 64));
    c = Move4<2048>(c, Load4(data + 128));
    d = Move4<2048>(d, Load4(data + 192));
  }
  d = Move4<1536>(a, Move4<1024>(b, Move4<512>(c, d)));
  uint8_t lanes[64];
  _mm512_storeu_si512(lanes, d);
  const __m128i first = Move<384>(Load(lanes)), second = Move<256>(Load(lanes + 16));
  const __m128i third = Move<128>(Load(lanes + 32)), fourth = Load(lanes + 48);
  return Finish(_mm_xor_si128(_mm_xor_si128(first, second), _mm_xor_si128(third, fourth)), data, bytes);
}

#endif

Crc32Ways FindWays() {
  Crc32Ways found{};
#if defined(__x86_64__)
  __builtin_cpu_init();
  const bool clmul = __builtin_cpu_supports("pclmul") != 0;
  if (clmul && __builtin_cpu_supports("vpclmulqdq") && __builtin_cpu_supports("avx512f"))
    found.ways[found.count++] = {"avx512", ByAvx512};
  if (clmul) found.ways[found.count++] = {"pclmulqdq", ByPclmulqdq};
#endif
  found.ways[found.count++] = {"tables", ByTables};
  return found;
}

}  // namespace

const Crc32Ways& AllCrc32Ways() {
  static const Crc32Ways ways = FindWays();
  return ways;
}

}  // namespace gpunvme
