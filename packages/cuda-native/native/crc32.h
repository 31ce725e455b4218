// CRC-32/ISO-HDLC: zlib's `crc32`, the checksum of an image's chunk table. Nothing of Node is in it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace gpunvme {

// The CRC of what `crc` is the CRC of, with these bytes behind it; 0 is that of nothing.
using Crc32 = uint32_t (*)(uint32_t crc, const uint8_t* data, size_t bytes);

struct Crc32Way {
  // What it uses: 'avx512', 'pclmulqdq', 'tables'.
  const char* name;
  Crc32 function;
};

// All that this processor can do, the fastest first; the last one needs nothing.
struct Crc32Ways {
  Crc32Way ways[3];
  size_t count;
};
const Crc32Ways& AllCrc32Ways();

}  // namespace gpunvme
