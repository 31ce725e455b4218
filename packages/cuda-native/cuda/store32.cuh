// Writes a controller's register from the GPU, without reading it, to test whether posted writes arrive.
#pragma once

#include "target.cuh"

namespace gpunvme {

// Stores as doorbells are rung.
template <class Port>
GPUNVME_DEVICE void store32(uint32_t* at, uint64_t value) {
  Port::fence();
  Port::mmio_store32(at, static_cast<uint32_t>(value));
}

}  // namespace gpunvme
