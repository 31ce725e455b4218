// Submission queue entries of the NVM Command Set.
#pragma once

#include "prp.cuh"

namespace gpunvme {

// Fields of an entry for a read or a write (Base 2.1 §4.1.1, NVM 1.2 §3.2.4 and §3.2.6). A flush has no data.
struct Entry {
  uint32_t opcode;
  uint32_t cid;
  uint32_t nsid;
  Prps prps;
  uint64_t slba;
  uint32_t blocks;
};

// Four stores of 16 bytes, each a PCIe transaction (the predecessor needed 22, and 13 loads).
template <class Port>
GPUNVME_DEVICE void store_entry(Quad* at, const Entry& entry) {
  const uint64_t prp1 = entry.prps.prp1;
  const uint64_t prp2 = entry.prps.prp2;
  const uint32_t nlb = entry.blocks == 0 ? 0 : entry.blocks - 1;
  Port::store16(at + 0, Quad{{entry.opcode | entry.cid << 16, entry.nsid, 0, 0}});
  Port::store16(at + 1, Quad{{0, 0, static_cast<uint32_t>(prp1), static_cast<uint32_t>(prp1 >> 32)}});
  Port::store16(at + 2, Quad{{static_cast<uint32_t>(prp2), static_cast<uint32_t>(prp2 >> 32),
                              static_cast<uint32_t>(entry.slba), static_cast<uint32_t>(entry.slba >> 32)}});
  Port::store16(at + 3, Quad{{nlb, 0, 0, 0}});
}

}  // namespace gpunvme
