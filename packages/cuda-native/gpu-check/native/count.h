// Counts the PCIe transactions of an engine's code by running it on the CPU with a counting port.
#pragma once

#include <cstdint>

namespace gpunvme {

struct Counted {
  uint64_t loads = 0;
  uint64_t stores = 0;
  uint64_t doorbells = 0;
};

// Counts the transactions of `commands` 4 KiB reads, at most `depth` in flight, on a device that completes each command before
// the next poll. Empty polls are excluded: their number depends on the controller.
Counted CountEngine(uint32_t commands, uint32_t depth);
Counted CountOriginal(uint32_t commands, uint32_t depth);

}  // namespace gpunvme
