// Words that the programs of gpu-check exchange with the host.
#pragma once

#include "gpunvme.cuh"

namespace gpunvme {

template <class T>
GPUNVME_DEVICE T* pointer_to(uint64_t address) {
  return reinterpret_cast<T*>(static_cast<uintptr_t>(address));
}

}  // namespace gpunvme
