// Prints the layout that a C compiler makes of the C headers in cuda/, and what gnv_init_queue writes, for a comparison with
// src/device/layout.ts and queue-words.ts.
#include <cstddef>
#include <cstdio>
#include <cstring>

#include "gpunvme_array.h"
#include "gpunvme_fetch.h"

#define STRUCTURE(type) std::printf("%s %zu\n", #type, sizeof(type))
#define MEMBER(type, member) std::printf("%s.%s %zu %zu\n", #type, #member, offsetof(type, member), sizeof(type{}.member))
#define CONSTANT(name) std::printf("%s %llu\n", #name, static_cast<unsigned long long>(name))
#define WORD(member) std::printf("queue.%s %llu\n", #member, static_cast<unsigned long long>(queue.member))

namespace {

void PrintLayout() {
  CONSTANT(GNV_LAYOUT_VERSION);
  CONSTANT(GNV_TAKEN);
  CONSTANT(GNV_CID_SHIFT);
  CONSTANT(GNV_WRITABLE);
  CONSTANT(GNV_RUNNING);
  CONSTANT(GNV_QUEUE_HALTED);
  CONSTANT(GNV_QUEUE_LOST);
  CONSTANT(GNV_ARRAY_VERSION);
  CONSTANT(GNV_PAGE_NUMBER_BITS);
  CONSTANT(GNV_FETCH_VERSION);
  CONSTANT(GNV_FETCH_MAX_POSITIONS);
  STRUCTURE(gnv_runs);
  MEMBER(gnv_runs, iovas);
  MEMBER(gnv_runs, shift);
  STRUCTURE(gnv_buffer);
  MEMBER(gnv_buffer, runs.iovas);
  MEMBER(gnv_buffer, runs.shift);
  MEMBER(gnv_buffer, bytes);
  MEMBER(gnv_buffer, data);
  STRUCTURE(gnv_slot);
  MEMBER(gnv_slot, outcome);
  MEMBER(gnv_slot, deadline_ns);
  STRUCTURE(gnv_queue);
  MEMBER(gnv_queue, sq);
  MEMBER(gnv_queue, cq);
  MEMBER(gnv_queue, tail_doorbell);
  MEMBER(gnv_queue, head_doorbell);
  MEMBER(gnv_queue, prp_lists);
  MEMBER(gnv_queue, prp_list_runs.iovas);
  MEMBER(gnv_queue, prp_list_runs.shift);
  MEMBER(gnv_queue, slots);
  MEMBER(gnv_queue, ready);
  MEMBER(gnv_queue, free_slots);
  MEMBER(gnv_queue, entries);
  MEMBER(gnv_queue, slot_count);
  MEMBER(gnv_queue, slot_bits);
  MEMBER(gnv_queue, qid);
  MEMBER(gnv_queue, prp_list_bytes);
  MEMBER(gnv_queue, page_bytes);
  MEMBER(gnv_queue, state);
  MEMBER(gnv_queue, free_count);
  MEMBER(gnv_queue, free_head);
  MEMBER(gnv_queue, free_tail);
  MEMBER(gnv_queue, sq_ticket);
  MEMBER(gnv_queue, ring_requests);
  MEMBER(gnv_queue, sq_tail);
  MEMBER(gnv_queue, tail_doorbell_writes);
  MEMBER(gnv_queue, cq_lock);
  MEMBER(gnv_queue, cq_head);
  MEMBER(gnv_queue, cq_released);
  MEMBER(gnv_queue, head_doorbell_writes);
  MEMBER(gnv_queue, stale);
  STRUCTURE(gnv_drive);
  MEMBER(gnv_drive, blocks);
  MEMBER(gnv_drive, nsid);
  MEMBER(gnv_drive, block_shift);
  MEMBER(gnv_drive, max_blocks);
  MEMBER(gnv_drive, first_queue);
  MEMBER(gnv_drive, queue_count);
  MEMBER(gnv_drive, flags);
  STRUCTURE(gnv_device);
  MEMBER(gnv_device, version);
  MEMBER(gnv_device, drive_count);
  MEMBER(gnv_device, drives);
  MEMBER(gnv_device, queues);
  MEMBER(gnv_device, timeout_ns);
  STRUCTURE(gnv_page_set);
  MEMBER(gnv_page_set, lock);
  MEMBER(gnv_page_set, hand);
  MEMBER(gnv_page_set, hits);
  MEMBER(gnv_page_set, misses);
  MEMBER(gnv_page_set, coalesced);
  MEMBER(gnv_page_set, evictions);
  MEMBER(gnv_page_set, busy);
  STRUCTURE(gnv_array);
  MEMBER(gnv_array, version);
  MEMBER(gnv_array, drive);
  MEMBER(gnv_array, device);
  MEMBER(gnv_array, first_block);
  MEMBER(gnv_array, bytes);
  MEMBER(gnv_array, memory);
  MEMBER(gnv_array, sets);
  MEMBER(gnv_array, words);
  MEMBER(gnv_array, outcomes);
  MEMBER(gnv_array, page_shift);
  MEMBER(gnv_array, block_shift);
  MEMBER(gnv_array, set_shift);
  MEMBER(gnv_array, ways);
  STRUCTURE(gnv_destination);
  MEMBER(gnv_destination, offset);
  MEMBER(gnv_destination, bytes);
  STRUCTURE(gnv_fetch_result);
  MEMBER(gnv_fetch_result, ending);
  MEMBER(gnv_fetch_result, reason);
  MEMBER(gnv_fetch_result, position);
  MEMBER(gnv_fetch_result, extent);
  MEMBER(gnv_fetch_result, expected);
  MEMBER(gnv_fetch_result, actual);
  MEMBER(gnv_fetch_result, read);
  STRUCTURE(gnv_fetch_progress);
  MEMBER(gnv_fetch_progress, failure);
  MEMBER(gnv_fetch_progress, ended);
  STRUCTURE(gnv_fetch);
  MEMBER(gnv_fetch, table);
  MEMBER(gnv_fetch, ids);
  MEMBER(gnv_fetch, destinations);
  MEMBER(gnv_fetch, results);
  MEMBER(gnv_fetch, progress);
  MEMBER(gnv_fetch, crcs);
  MEMBER(gnv_fetch, buffer);
  MEMBER(gnv_fetch, layer);
  MEMBER(gnv_fetch, count);
  MEMBER(gnv_fetch, max_read_bytes);
}

// A queue of 8 entries and 5 slots. Everything that gnv_init_queue sets is a5h before.
void PrintInitialized() {
  gnv_queue queue;
  gnv_slot slots[5];
  uint32_t ready[8], free_slots[8];
  std::memset(static_cast<void*>(&queue), 0xa5, sizeof queue);
  std::memset(static_cast<void*>(slots), 0xa5, sizeof slots);
  std::memset(ready, 0xa5, sizeof ready);
  std::memset(free_slots, 0xa5, sizeof free_slots);
  queue.slots = slots;
  queue.ready = ready;
  queue.free_slots = free_slots;
  queue.entries = 8;
  queue.slot_count = 5;
  gnv_init_queue(&queue);
  WORD(slot_bits);
  WORD(state);
  WORD(free_count);
  WORD(free_head);
  WORD(free_tail);
  WORD(sq_ticket);
  WORD(ring_requests);
  WORD(sq_tail);
  WORD(tail_doorbell_writes);
  WORD(cq_lock);
  WORD(cq_head);
  WORD(cq_released);
  WORD(head_doorbell_writes);
  WORD(stale);
  const auto print = [](const char* name, const void* data, size_t bytes) {
    std::printf("%s ", name);
    for (size_t at = 0; at < bytes; at++) std::printf("%02x", static_cast<const uint8_t*>(data)[at]);
    std::printf("\n");
  };
  print("slots", slots, sizeof slots);
  print("ready", ready, sizeof ready);
  print("freeSlots", free_slots, sizeof free_slots);
}

}  // namespace

int main(int, char** arguments) {
  if (std::strcmp(arguments[1], "layout") == 0) PrintLayout();
  else PrintInitialized();
}
