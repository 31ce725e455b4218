#include "region.h"

#include <sys/mman.h>

#include <map>
#include <mutex>

#include "foreign.h"

namespace gpunvme {

namespace {

struct Table {
  std::mutex mutex;
  std::map<uint64_t, Region*> regions;
};

// Never destroyed: worker threads may release views while the process runs its exit handlers.
Table& TheTable() {
  static Table* const table = new Table;
  return *table;
}

uint64_t AddressOf(const Region* region) {
  return reinterpret_cast<uintptr_t>(region->base);
}

}  // namespace

Region* AddRegion(void* base, size_t length, size_t mapped, bool writable, bool allocated, Foreign* foreign) {
  auto* region = new Region{static_cast<uint8_t*>(base), length, mapped, writable, allocated, foreign, 1, false};
  Table& table = TheTable();
  const std::lock_guard<std::mutex> lock(table.mutex);
  table.regions.emplace(AddressOf(region), region);
  return region;
}

Region* FindRegion(uint64_t address, uint64_t length) {
  Table& table = TheTable();
  const std::lock_guard<std::mutex> lock(table.mutex);
  auto next = table.regions.upper_bound(address);
  if (next == table.regions.begin()) return nullptr;
  Region* region = std::prev(next)->second;
  const uint64_t offset = address - AddressOf(region);
  if (region->ended || offset > region->length || length > region->length - offset) return nullptr;
  region->references++;
  return region;
}

void HoldRegion(Region* region) {
  const std::lock_guard<std::mutex> lock(TheTable().mutex);
  region->references++;
}

void EndRegion(Region* region) {
  const std::lock_guard<std::mutex> lock(TheTable().mutex);
  region->ended = true;
}

void ReleaseRegion(Region* region) {
  Table& table = TheTable();
  const std::lock_guard<std::mutex> lock(table.mutex);
  if (--region->references > 0) return;
  if (region->foreign != nullptr) ForgetForeign(region->foreign);
  // Both under the lock: the kernel may reuse the address for another thread's mapping at once.
  table.regions.erase(AddressOf(region));
  munmap(region->base, region->mapped);
  delete region;
}

}  // namespace gpunvme
