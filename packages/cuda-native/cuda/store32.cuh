// A register of a controller, written by the GPU and not read: what shows whether a posted write arrives.
#pragma once

#include "target.cuh"

namespace gpunvme {

// A doorbell is rung in the same way.
template <class Port>
GPUNVME_DEVICE void store32(uint32_t* at, uint64_t value) {
  Port::fence();
  Port::mmio_store32(at, static_cast<uint32_t>(value));
}

}  // namespace gpunvme
