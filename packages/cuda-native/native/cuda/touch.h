// Maps pages of a controller's registers without accessing the controller.
#pragma once

#include <emmintrin.h>

#include <cinttypes>
#include <cstdint>
#include <cstdio>

namespace gpunvme::cuda {

// Whether all of [first, end) is mapped readable in this process.
inline bool IsReadable(uint64_t first, uint64_t end) {
  std::FILE* maps = std::fopen("/proc/self/maps", "re");
  if (maps == nullptr) return false;
  char line[512];
  // Mappings are listed by address, so a gap ends the search.
  while (first < end && std::fgets(line, sizeof line, maps) != nullptr) {
    uint64_t from, to;
    char readable;
    if (std::sscanf(line, "%" SCNx64 "-%" SCNx64 " %c", &from, &to, &readable) != 3 || to <= first) continue;
    if (from > first || readable != 'r') break;
    first = to;
  }
  std::fclose(maps);
  return first >= end;
}

// vfio-pci since Linux 6.12 maps a page of registers at its first access, and NVIDIA's driver registers only mapped pages.
// Doorbells must not be read, and every write to one takes effect. CLFLUSH faults like a load (Intel SDM vol. 2, CLFLUSH) but
// does not access registers, which are not cached. Does nothing unless the whole range is readable: the driver then refuses
// to register it. As by a load, the process gets SIGBUS if the device is asleep or its memory space is off.
inline void TouchPages(uint64_t first, uint64_t end) {
  if (!IsReadable(first, end)) return;
  for (uint64_t page = first; page < end; page += 4096) _mm_clflush(reinterpret_cast<const void*>(page));
}

}  // namespace gpunvme::cuda
