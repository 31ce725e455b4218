// Lays out a gnv::Device in GPU memory, on a queue pair that the host has created and leaves alone.
#pragma once

#include <stddef.h>

#include "gpunvme.cuh"

namespace gpunvme {

constexpr uint32_t SETUP_ENTRIES = 256;

// Words that the host writes. Addresses are the GPU's, except those that the controller uses (`iova`).
struct DeviceSetup {
  uint64_t sq;
  uint64_t cq;
  uint64_t tail_doorbell;
  uint64_t head_doorbell;
  uint64_t qid;
  // Of the SQ and of the CQ: a power of two, at most SETUP_ENTRIES. The SQ tail and the CQ head are 0.
  uint64_t entries;
  // Maximum number of commands in flight, less than `entries`.
  uint64_t slots;
  uint64_t prp_lists;
  uint64_t prp_lists_iova;
  // Per slot.
  uint64_t prp_list_bytes;
  uint64_t page_bytes;
  // Memory for data, contiguous for the controller.
  uint64_t data_iova;
  uint64_t data_bytes;
  // Namespace 1: number of blocks, their size as a power of two, and the maximum number in a command.
  uint64_t blocks;
  uint64_t block_shift;
  uint64_t max_blocks;
  uint64_t timeout_ns;
  // A DeviceState.
  uint64_t state;
};
static_assert(sizeof(DeviceSetup) == 8 * 18, "written by the host");

struct DeviceState {
  gnv_queue queue;
  gnv_device device;
  gnv_drive drive;
  gnv_buffer buffer;
  uint64_t prp_lists_iova;
  uint64_t data_iova;
  gnv_slot slots[SETUP_ENTRIES];
  uint32_t free_slots[SETUP_ENTRIES];
  uint32_t ready[SETUP_ENTRIES];
};
static_assert(sizeof(DeviceState) <= 16384, "allocated by the host");
static_assert(offsetof(gnv_queue, tail_doorbell_writes) == 264 && offsetof(gnv_queue, head_doorbell_writes) == 396 &&
                  offsetof(gnv_queue, stale) == 400,
              "read by the host");

template <class T>
GPUNVME_DEVICE T* pointer_to(uint64_t address) {
  return reinterpret_cast<T*>(static_cast<uintptr_t>(address));
}

GPUNVME_DEVICE void set_up_device(const DeviceSetup& from) {
  DeviceState& state = *pointer_to<DeviceState>(from.state);
  state.prp_lists_iova = from.prp_lists_iova;
  state.data_iova = from.data_iova;
  gnv_queue& queue = state.queue;
  queue = gnv_queue{};
  queue.sq = pointer_to<void>(from.sq);
  queue.cq = pointer_to<const uint64_t>(from.cq);
  queue.tail_doorbell = pointer_to<uint32_t>(from.tail_doorbell);
  queue.head_doorbell = pointer_to<uint32_t>(from.head_doorbell);
  queue.prp_lists = pointer_to<uint64_t>(from.prp_lists);
  queue.prp_list_runs = {&state.prp_lists_iova, 63};
  queue.slots = state.slots;
  queue.ready = state.ready;
  queue.free_slots = state.free_slots;
  queue.entries = static_cast<uint32_t>(from.entries);
  queue.slot_count = static_cast<uint32_t>(from.slots);
  queue.qid = static_cast<uint32_t>(from.qid);
  queue.prp_list_bytes = static_cast<uint32_t>(from.prp_list_bytes);
  queue.page_bytes = static_cast<uint32_t>(from.page_bytes);
  gnv_init_queue(&queue);
  state.drive = {from.blocks,
                 1,
                 static_cast<uint32_t>(from.block_shift),
                 static_cast<uint32_t>(from.max_blocks),
                 0,
                 1,
                 GNV_WRITABLE};
  state.device = {GNV_LAYOUT_VERSION, 1, &state.drive, &queue, from.timeout_ns};
  state.buffer = {{&state.data_iova, 63}, from.data_bytes, nullptr};
}

// Returns an outcome as a word for the host: the ending in the upper half, the status or the reason in the lower half.
GPUNVME_DEVICE uint64_t word_of(const gnv::Outcome& outcome) {
  return static_cast<uint64_t>(outcome.ending()) << 32 | outcome.status();
}

}  // namespace gpunvme
