// A gnv_queue in plain memory, and a model of its controller.
#pragma once

#include <vector>

#include "gpunvme_device.h"
#include "model_controller.h"
#include "target.cuh"

namespace model {

struct QueueShape {
  uint32_t entries;
  uint32_t slots;
  uint32_t qid;
  // Small, so that short transfers need PRP lists of several pages.
  uint32_t page_bytes = 64;
  uint32_t list_pages = 2;
  uint32_t block_bytes = 16;
  // Positions at which the rings start: just before 2^32 to test the wrap-around. A multiple of `entries`.
  uint32_t start = 0;
  // Generation of the last identifier of each slot.
  uint32_t last_generation = 0;
};

struct QueueRig {
  std::vector<gpunvme::Quad> sq;
  std::vector<uint64_t> cq, lists, list_iovas;
  std::vector<gnv_slot> slots;
  std::vector<uint32_t> ready, free_slots;
  uint32_t tail_doorbell = 0, head_doorbell = 0;
  Controller controller;

  explicit QueueRig(uint32_t commands) : controller(commands) {}

  // Initializes `queue`, and adds its PRP lists to the controller's memory. Called once.
  void lay_out(gnv_queue& queue, const QueueShape& shape) {
    queue = {};
    const uint32_t pages = shape.slots * shape.list_pages;
    sq.resize(4 * shape.entries);
    memset(sq.data(), 0xff, 16 * sq.size());
    cq.resize(2 * shape.entries, 0);
    lists.resize(uint64_t{pages} * shape.page_bytes / 8, 0xeeeeeeeeeeeeeeee);
    slots.resize(shape.slots);
    ready.resize(shape.entries);
    free_slots.resize(shape.entries);
    // Descending, so that contiguous host memory is not contiguous for the controller.
    for (uint32_t page = 0; page < pages; page++)
      list_iovas.push_back(0x500000000000 + (uint64_t{shape.qid} << 32) + (pages - page) * shape.page_bytes);
    queue.sq = sq.data();
    queue.cq = cq.data();
    queue.tail_doorbell = &tail_doorbell;
    queue.head_doorbell = &head_doorbell;
    queue.prp_lists = lists.data();
    queue.prp_list_runs = {list_iovas.data(), static_cast<uint64_t>(__builtin_ctz(shape.page_bytes))};
    queue.slots = slots.data();
    queue.ready = ready.data();
    queue.free_slots = free_slots.data();
    queue.entries = shape.entries;
    queue.slot_count = shape.slots;
    queue.qid = shape.qid;
    queue.prp_list_bytes = shape.list_pages * shape.page_bytes;
    queue.page_bytes = shape.page_bytes;
    gnv_init_queue(&queue);
    for (uint32_t at = 0; at < shape.entries; at++) ready[at] = shape.start + at + 1 - shape.entries;
    for (uint32_t slot = 0; slot < shape.slots; slot++) {
      const uint64_t cid = (shape.last_generation << queue.slot_bits | slot) & 0xffff;
      slots[slot].outcome = GNV_TAKEN | cid << GNV_CID_SHIFT;
    }
    queue.free_head += shape.start;
    queue.free_tail += shape.start;
    queue.sq_ticket = queue.sq_tail = shape.start;
    controller.page_bytes = shape.page_bytes;
    controller.block_bytes = shape.block_bytes;
    controller.cq = cq.data();
    controller.cq_entries = shape.entries;
    controller.head_doorbell = &head_doorbell;
    controller.sqs = {{static_cast<uint16_t>(shape.qid), &sq[0].word[0], shape.entries, &tail_doorbell,
                       (1u << queue.slot_bits) - 1}};
    for (uint32_t page = 0; page < pages; page++)
      controller.ranges.push_back({list_iovas[page], shape.page_bytes, reinterpret_cast<uint8_t*>(lists.data()) + page * shape.page_bytes});
  }
};

}  // namespace model
