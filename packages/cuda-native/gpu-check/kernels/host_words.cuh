// Words that the programs of gpu-check exchange with the host.
#pragma once

#include "gpunvme.cuh"

namespace gpunvme {

template <class T>
GPUNVME_DEVICE T* pointer_to(uint64_t address) {
  return reinterpret_cast<T*>(static_cast<uintptr_t>(address));
}

// Returns an outcome as a word for the host: the ending in the upper half, the status or the reason in the lower half.
GPUNVME_DEVICE uint64_t word_of(const gnv::Outcome& outcome) {
  return static_cast<uint64_t>(outcome.ending()) << 32 | outcome.status();
}

}  // namespace gpunvme
