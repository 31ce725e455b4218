// The memory of this process that the addon mapped, known to all its threads. Whoever can reach the bytes of a region
// holds a reference: the environment that mapped it, until it unmaps it or ends, and each ArrayBuffer over it, in
// whichever thread. The mapping ends with the last one: no thread is left with a view of an address that is gone.
// Memory that was allocated here stays when its environment ends: a device may have been given its address.
#pragma once

#include <cstddef>
#include <cstdint>

namespace gpunvme {

struct Foreign;

struct Region {
  uint8_t* const base;
  // What was asked for, and what munmap must be told: whole pages.
  const size_t length;
  const size_t mapped;
  const bool writable;
  // Its pages are nobody's but this process's: unmapped, they become another's at once.
  const bool allocated;
  // Of a file that somebody else may cut short; nullptr of all others.
  Foreign* const foreign;
  // Of the table alone, under its lock.
  unsigned references;
  bool ended;
};

// Takes over a mapping, and its guard, with one reference.
Region* AddRegion(void* base, size_t length, size_t mapped, bool writable, bool allocated, Foreign* foreign);

// The region that has all of these bytes, with a reference more; nullptr where there is none that is still mapped.
Region* FindRegion(uint64_t address, uint64_t length);

// One reference more to a region that the caller holds one of.
void HoldRegion(Region* region);

// From now on FindRegion does not find it.
void EndRegion(Region* region);

// One reference less; the last one unmaps it.
void ReleaseRegion(Region* region);

}  // namespace gpunvme
