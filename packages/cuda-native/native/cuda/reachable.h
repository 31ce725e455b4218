// Finds host memory that the GPU can already access: the driver allocated it, or other code has registered it.
#pragma once

#include <cstdint>
#include <utility>

#include "driver.h"

namespace gpunvme::cuda {

// Stores the GPU's address of the 4 KiB pages [first, end); 0 if the GPU cannot access all of them. The context must be
// current.
inline Result FindReachable(const Functions& api, uint64_t first, uint64_t end, DevicePointer* device) {
  *device = 0;
  DevicePointer start = 0, last = 0;
  for (const auto& [page, pointer] : {std::pair{first, &start}, std::pair{end - 4096, &last}}) {
    const Result result = api.cuMemHostGetDevicePointer_v2(pointer, reinterpret_cast<void*>(static_cast<uintptr_t>(page)), 0);
    if (result == kErrorInvalidValue) return kSuccess;
    if (result != kSuccess) return result;
  }
  // An existing registration may cover only a part of the range; the GPU must access all of it.
  if (last - start == end - 4096 - first) *device = start;
  return kSuccess;
}

}  // namespace gpunvme::cuda
