// Memory that the addon mapped in this process, shared by all its threads. References to a region are held by the
// environment that mapped it, until it unmaps it or ends, and by each ArrayBuffer over it, in any thread. The last
// reference ends the mapping, so no thread has a view of an unmapped address. Allocated memory stays when its
// environment ends, since a device may know its address.
#pragma once

#include <cstddef>
#include <cstdint>

namespace gpunvme {

struct Foreign;

struct Region {
  uint8_t* const base;
  // Requested length, and length for munmap: whole pages.
  const size_t length;
  const size_t mapped;
  const bool writable;
  // Memory of this process only, not of a file.
  const bool allocated;
  // Guard of a file that another process may truncate; otherwise nullptr.
  Foreign* const foreign;
  // Used by the table only, under its lock.
  unsigned references;
  bool ended;
};

// Adds a mapping and its guard, with one reference.
Region* AddRegion(void* base, size_t length, size_t mapped, bool writable, bool allocated, Foreign* foreign);

// Returns the mapped region that contains all of these bytes, with an additional reference; nullptr if there is none.
Region* FindRegion(uint64_t address, uint64_t length);

// Adds a reference to a region that the caller has one to.
void HoldRegion(Region* region);

// Hides the region from FindRegion.
void EndRegion(Region* region);

// Releases a reference; the last one unmaps the region.
void ReleaseRegion(Region* region);

}  // namespace gpunvme
