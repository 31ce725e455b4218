// `crc32_test CASE...` with cases `crc:from:bytes:split:alignment`, and data on stdin. Prints a line for each case: the
// CRC-32 of `bytes` bytes from `from` on, continued from `crc`, by each implementation that this CPU supports, first in
// one call and then in two, of `split` bytes and of the rest. The first line names the implementations.
#include "crc32.h"

#include <stdio.h>

#include <algorithm>
#include <memory>
#include <string>

using namespace gpunvme;

int main(int count, char** args) {
  std::string data;
  for (char piece[65536]; size_t bytes = fread(piece, 1, sizeof piece, stdin);) data.append(piece, bytes);

  const Crc32Ways& all = AllCrc32Ways();
  for (size_t i = 0; i < all.count; i++) printf("%s ", all.ways[i].name);
  printf("\n");
  for (int i = 1; i < count; i++) {
    unsigned crc;
    size_t from, bytes, split, alignment;
    if (sscanf(args[i], "%u:%zu:%zu:%zu:%zu", &crc, &from, &bytes, &split, &alignment) != 5) return 2;
    // The exact size, so that AddressSanitizer detects a read past the end. A read before the start changes the
    // checksum.
    const std::unique_ptr<uint8_t[]> memory(new uint8_t[alignment + bytes]);
    std::fill_n(memory.get(), alignment, static_cast<uint8_t>(i));
    std::copy_n(data.begin() + static_cast<ptrdiff_t>(from), bytes, memory.get() + alignment);
    const uint8_t* begin = memory.get() + alignment;
    for (size_t way = 0; way < all.count; way++) {
      const Crc32 crc32 = all.ways[way].function;
      const uint32_t first = crc32(crc, begin, split);
      printf("%08x %08x ", crc32(crc, begin, bytes), crc32(first, begin + split, bytes - split));
    }
    printf("\n");
  }
}
