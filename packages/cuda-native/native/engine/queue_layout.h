// A queue pair as its owner describes it: its memory, its doorbells and its positions.
#pragma once

#include <cstdint>
#include <memory>

namespace gpunvme {

// Memory by its address in this process, or by its address for leaders if `on_device`.
struct Memory {
  uint64_t address;
  uint64_t bytes;
  bool on_device;
};

// The address runs of a memory, kept while plans use it.
class RunTable;

struct QueueLayout {
  Memory sq;
  Memory cq;
  Memory prp_lists;
  std::shared_ptr<RunTable> prp_list_runs;
  // `entries` is the number of entries of the submission queue, and of its completion queue, which is not shared.
  uint32_t qid, entries, sq_tail, cq_head, phase, in_flight, prp_list_bytes, page_bytes;
  uint64_t tail_doorbell, head_doorbell;
  // For each of `in_flight` slots, the generation of its next command; updated in place.
  uint16_t* generations;
};

}  // namespace gpunvme
