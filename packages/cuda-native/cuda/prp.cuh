// Physical Region Pages, which describe a command's data (Base 2.1 §4.3.1).
#pragma once

#include "share.cuh"

namespace gpunvme {

struct Prps {
  uint64_t prp1;
  uint64_t prp2;
};

// Describes `bytes` bytes of `memory` from `offset` on. If two entries are too few, it uses the slot's own list pages.
// Runs end at page boundaries, so every entry after the first is the address of a page. The last entry of a list page
// points to the next list page, unless no entries follow.
template <class Port>
GPUNVME_DEVICE Prps lay_prps(const gnv_queue& queue, const Runs& memory, uint64_t offset, uint64_t bytes, uint32_t slot) {
  const uint64_t page = queue.page_bytes;
  Prps prps = {iova_at(memory, offset), 0};
  const uint64_t in_first = page - (prps.prp1 & (page - 1));
  if (bytes <= in_first) return prps;
  const uint64_t end = offset + bytes;
  uint64_t at = offset + in_first;
  if (end - at <= page) {
    prps.prp2 = iova_at(memory, at);
    return prps;
  }
  const uint64_t list = static_cast<uint64_t>(slot) * queue.prp_list_bytes;
  uint64_t* entry = queue.prp_lists + list / 8;
  const uint32_t in_page = queue.page_bytes / 8;
  prps.prp2 = iova_at(queue.prp_list_runs, list);
  uint64_t next_page = list;
  for (uint32_t index = 0; at < end; entry++) {
    if (++index == in_page && end - at > page) {
      next_page += page;
      Port::store64(entry, iova_at(queue.prp_list_runs, next_page));
      index = 0;
    } else {
      Port::store64(entry, iova_at(memory, at));
      at += page;
    }
  }
  return prps;
}

}  // namespace gpunvme
