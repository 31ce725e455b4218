// Allocates parts of larger blocks. Allocating and freeing by the driver may wait for running kernels, and leaders run
// while their queues have work. So their memory comes from blocks that were allocated while none ran.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>

namespace gpunvme {

class Pool {
 public:
  static constexpr size_t kGrain = 256;

  // Adds a block whose address is a multiple of kGrain and not adjacent to another block.
  void Add(uint64_t address, size_t bytes) { free_[address] = bytes / kGrain * kGrain; }

  // Returns the address of `bytes` bytes; 0 if no free part is long enough.
  uint64_t Take(size_t bytes) {
    const size_t size = Rounded(bytes);
    for (auto part = free_.begin(); part != free_.end(); ++part) {
      if (part->second < size) continue;
      const uint64_t address = part->first;
      if (part->second > size) free_[address + size] = part->second - size;
      free_.erase(address);
      taken_[address] = size;
      return address;
    }
    return 0;
  }

  bool Has(size_t bytes) const {
    for (const auto& [address, size] : free_) {
      if (size >= Rounded(bytes)) return true;
    }
    return false;
  }

  void Give(uint64_t address) {
    const auto taken = taken_.find(address);
    size_t size = taken->second;
    taken_.erase(taken);
    auto next = free_.upper_bound(address);
    if (next != free_.end() && address + size == next->first) {
      size += next->second;
      next = free_.erase(next);
    }
    if (next != free_.begin() && std::prev(next)->first + std::prev(next)->second == address) {
      std::prev(next)->second += size;
    } else {
      free_[address] = size;
    }
  }

 private:
  static size_t Rounded(size_t bytes) { return bytes == 0 ? kGrain : (bytes + kGrain - 1) / kGrain * kGrain; }

  std::map<uint64_t, size_t> free_;
  std::map<uint64_t, size_t> taken_;
};

}  // namespace gpunvme
