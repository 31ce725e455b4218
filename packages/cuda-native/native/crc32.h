// CRC-32/ISO-HDLC: zlib's `crc32`, the checksum of an image's chunk table. Independent of Node.js.
#pragma once

#include <cstddef>
#include <cstdint>

namespace gpunvme {

// Continues a CRC with more bytes; starts with 0.
using Crc32 = uint32_t (*)(uint32_t crc, const uint8_t* data, size_t bytes);

struct Crc32Way {
  // 'avx512', 'pclmulqdq' or 'tables'.
  const char* name;
  Crc32 function;
};

// Methods that this processor supports, fastest first. The last one always works.
struct Crc32Ways {
  Crc32Way ways[3];
  size_t count;
};
const Crc32Ways& AllCrc32Ways();

}  // namespace gpunvme
