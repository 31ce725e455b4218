// How often the code of an engine crosses PCIe, by running it on the CPU with a port that counts.
#pragma once

#include <cstdint>

namespace gpunvme {

struct Counted {
  uint64_t loads = 0;
  uint64_t stores = 0;
  uint64_t doorbells = 0;
};

// Of so many 4 KiB reads with at most `depth` in flight, on a device that has answered whenever it is looked at. Polls that
// find nothing are left out: how many there are is up to the controller.
Counted CountEngine(uint32_t commands, uint32_t depth);
Counted CountOriginal(uint32_t commands, uint32_t depth);

}  // namespace gpunvme
