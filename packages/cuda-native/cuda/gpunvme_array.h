/*
 * C layout of gnv::Array (array.cuh): a read-only extent of a namespace, and a cache of its pages in GPU memory.
 *
 * The process that owns the controller initializes it; GPU threads use it. Pointers are GPU addresses. Callers must check the
 * layout with `gnv_check_array` before a launch; device code checks only the index of an access.
 */
#pragma once

#include "gpunvme_device.h"

#if defined(__cplusplus)
extern "C" {
#endif

/* Incremented with every change to a structure or a value in this file. */
#define GNV_ARRAY_VERSION 1

/*
 * A slot has one word. Bits 63:24: number of the page in the extent. Bit 23: set by each access, cleared by the clock
 * (second-chance eviction). Bits 22:20: gnv_page_state. Bits 19:0: number of references.
 */
#define GNV_PAGE_NUMBER_SHIFT 24
#define GNV_PAGE_NUMBER_BITS 40
#define GNV_PAGE_USED (1ULL << 23)
#define GNV_PAGE_STATE_SHIFT 20
#define GNV_PAGE_REFERENCES 0xfffffULL

enum gnv_page_state {
  GNV_PAGE_EMPTY = 0,
  /* A thread is reading the page. It holds a reference, as does each thread that waits for the page. */
  GNV_PAGE_LOADING = 1,
  GNV_PAGE_VALID = 2,
  /* The read failed. The slot holds no page. It can be claimed after all waiting threads have read the outcome. */
  GNV_PAGE_FAILED = 3,
  /* The read timed out or was lost: the controller may still write to the slot. No thread claims it again. */
  GNV_PAGE_QUARANTINED = 4,
};

/* State of a set of slots, and statistics of the pages that map to it. Lanes that share an access count once. */
typedef struct gnv_page_set {
  /* 1 while a thread assigns a page to a slot of the set. That thread owns `hand`, the slot at which the clock continues. */
  uint32_t lock;
  uint32_t hand;
  /* Accesses to a valid page. */
  uint64_t hits;
  /* Accesses that claimed a slot and read the page from the drive. */
  uint64_t misses;
  /* Accesses that waited for a read by another thread. */
  uint64_t coalesced;
  /* Valid pages that were replaced. */
  uint64_t evictions;
  /* Accesses that ended with GNV_BUSY because they obtained no page within the time limit. */
  uint64_t busy;
  uint64_t reserved[2];
} gnv_page_set;

/* Passed to kernels by value. */
typedef struct gnv_array {
  uint32_t version;
  /* Index of the drive in the device. */
  uint32_t drive;
  gnv_device device;
  /* The extent: first block, and length in bytes. Blocks of the last page beyond the extent are not read. */
  uint64_t first_block;
  uint64_t bytes;
  /* The page of slot s starts at byte s << page_shift. `data` is the GPU's address. */
  gnv_buffer memory;
  /* Array of 2^set_shift sets. */
  gnv_page_set* sets;
  /* One word per slot. The slots of set s are s * ways to s * ways + ways - 1. */
  uint64_t* words;
  /* One outcome per slot: that of the last read into it. */
  uint64_t* outcomes;
  /* A page has 2^page_shift bytes. */
  uint32_t page_shift;
  /* Same as the drive's. */
  uint32_t block_shift;
  uint32_t set_shift;
  /* Number of slots in a set. A page can be in any slot of one set. */
  uint32_t ways;
} gnv_array;

enum gnv_array_problem {
  GNV_ARRAY_VALID = 0,
  GNV_ARRAY_BAD_VERSION = 1,
  /* No such drive, `block_shift` differs from the drive's or is below 9, or the device has no drives or queues. */
  GNV_ARRAY_BAD_DRIVE = 2,
  /* A page smaller than a block, or with more than max_blocks of the drive. */
  GNV_ARRAY_BAD_PAGE = 3,
  /* No slots, or more than 2^31. */
  GNV_ARRAY_BAD_SLOTS = 4,
  /* A null pointer, `data` not aligned to 512 bytes, or memory for fewer pages than there are slots. */
  GNV_ARRAY_BAD_MEMORY = 5,
  /* An empty extent, one beyond the end of the namespace, or one with more than 2^40 pages. */
  GNV_ARRAY_BAD_EXTENT = 6,
};

/*
 * Returns GNV_ARRAY_VALID, or the reason why kernels must not use the array. `drive` is a copy of the array's drive. No pointer
 * of the array is dereferenced.
 */
GNV_FUNCTION enum gnv_array_problem gnv_check_array(const gnv_array* array, const gnv_drive* drive) {
  uint64_t slots, blocks;
  if (array->version != GNV_ARRAY_VERSION || array->device.version != GNV_LAYOUT_VERSION) return GNV_ARRAY_BAD_VERSION;
  if (array->drive >= array->device.drive_count || array->block_shift != drive->block_shift) return GNV_ARRAY_BAD_DRIVE;
  if (array->block_shift < 9 || array->device.drives == 0 || array->device.queues == 0) return GNV_ARRAY_BAD_DRIVE;
  if (array->page_shift < array->block_shift || array->page_shift > 31) return GNV_ARRAY_BAD_PAGE;
  if (1u << (array->page_shift - array->block_shift) > drive->max_blocks) return GNV_ARRAY_BAD_PAGE;
  if (array->ways == 0 || array->set_shift > 31) return GNV_ARRAY_BAD_SLOTS;
  slots = (uint64_t)array->ways << array->set_shift;
  if (slots > 1ULL << 31) return GNV_ARRAY_BAD_SLOTS;
  if (array->sets == 0 || array->words == 0 || array->outcomes == 0 || array->memory.data == 0) return GNV_ARRAY_BAD_MEMORY;
  /* The largest element. */
  if ((uintptr_t)array->memory.data % 512 != 0) return GNV_ARRAY_BAD_MEMORY;
  if (slots > array->memory.bytes >> array->page_shift) return GNV_ARRAY_BAD_MEMORY;
  if (array->bytes == 0 || (array->bytes - 1) >> array->page_shift >> GNV_PAGE_NUMBER_BITS != 0) return GNV_ARRAY_BAD_EXTENT;
  blocks = ((array->bytes - 1) >> array->block_shift) + 1;
  if (array->first_block >= drive->blocks || blocks > drive->blocks - array->first_block) return GNV_ARRAY_BAD_EXTENT;
  return GNV_ARRAY_VALID;
}

/*
 * Empties the cache of a valid array: zeroes `sets`, `words` and `outcomes`, for which cudaMemset serves as well. Call it in a
 * kernel, or on the host if it can access them, while no thread uses the array. After a time-out or a loss, reset the controller
 * first.
 */
GNV_FUNCTION void gnv_init_array(const gnv_array* array) {
  const gnv_page_set unused = {0, 0, 0, 0, 0, 0, 0, {0, 0}};
  uint32_t set, slot;
  for (set = 0; set < 1u << array->set_shift; set++) array->sets[set] = unused;
  for (slot = 0; slot < array->ways << array->set_shift; slot++) array->words[slot] = array->outcomes[slot] = 0;
}

#if defined(__cplusplus)
}
static_assert(sizeof(gnv_page_set) == 64 && sizeof(gnv_array) == 128, "read by other programs");
#endif
