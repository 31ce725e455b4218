/*
 * C layout of gnv::Device (gpunvme.cuh). The process that owns the controller fills it in; GPU threads use it.
 *
 * Pointers are GPU addresses; the values at `iovas` are controller addresses. SQ, CQ, PRP lists and data may be in GPU memory
 * or in mapped host memory. Doorbells are mapped registers, or mapped words that a CPU thread copies to registers. The
 * structures and their arrays are in GPU memory. Callers must check `version`; device code does not.
 */
#pragma once

#include <stdint.h>

#if defined(__cplusplus)
extern "C" {
#endif

#if defined(__CUDACC__)
#define GNV_FUNCTION static __host__ __device__ inline
#else
#define GNV_FUNCTION static inline
#endif

/* Incremented with every change to a structure or a value in this file. */
#define GNV_LAYOUT_VERSION 1

/* Controller addresses of a memory: one per run of 2^shift bytes. Contiguous memory is one run with shift 63. */
typedef struct gnv_runs {
  const uint64_t* iovas;
  uint64_t shift;
} gnv_runs;

/* Memory that the controller may access. Runs start at page boundaries of the controller. */
typedef struct gnv_buffer {
  gnv_runs runs;
  uint64_t bytes;
  /* The GPU's address of the memory, for kernels; null if they do not access it. */
  void* data;
} gnv_buffer;

/*
 * An outcome is one word: bits 39:32 the ending, 31:16 the command identifier, 15:0 the Status field of the completion without
 * the Phase Tag, or for GNV_INVALID the reason.
 */
enum gnv_ending {
  /* Submitted, no outcome yet. */
  GNV_PENDING = 0,
  /* Completed with status 0. */
  GNV_SUCCESS = 1,
  /* Completed with another status. */
  GNV_STATUS = 2,
  /* Not completed within the time limit. The controller may still access the command's memory until the host has reset it. */
  GNV_TIMEOUT = 3,
  /* The host has lost the controller. As after GNV_TIMEOUT, it may still access the memory of the command. */
  GNV_LOST = 4,
  /* Not submitted: a command of this queue has timed out, or the host has halted it. */
  GNV_HALTED = 5,
  /* Not submitted: the call obtained no slot for this command within the time limit. */
  GNV_BUSY = 6,
  /* Not submitted, or not a ticket: see gnv_reason. */
  GNV_INVALID = 7,
};

enum gnv_reason {
  /* No such drive. */
  GNV_BAD_DRIVE = 1,
  /* Zero blocks, or more than max_blocks. */
  GNV_BAD_BLOCKS = 2,
  /* Blocks beyond the end of the namespace. */
  GNV_BAD_RANGE = 3,
  /* Bytes beyond the end of the buffer. */
  GNV_BAD_BUFFER = 4,
  /* An offset that is not a multiple of 4 (PRP entries, Base 2.1 section 4.3.1). */
  GNV_BAD_ALIGNMENT = 5,
  /* A write or flush to a drive without GNV_WRITABLE. */
  GNV_READ_ONLY = 6,
  /* A ticket that has already been waited for; detected until its identifier recurs. */
  GNV_BAD_TICKET = 7,
  /* An index beyond the end of an array (gpunvme_array.h). */
  GNV_BAD_INDEX = 8,
};

#define GNV_ENDING_SHIFT 32
#define GNV_CID_SHIFT 16
/* Set in the outcome of a slot after its waiter has taken it. */
#define GNV_TAKEN (1ULL << 40)

enum gnv_state {
  GNV_RUNNING = 0,
  /*
   * Set by the device after a time-out, or by the host: no thread takes a slot any more. Threads that already have one still
   * submit, and commands in flight are awaited. The host resets the controller after all kernels that use the queue have ended.
   */
  GNV_QUEUE_HALTED = 1,
  /* Set by the host: commands in flight end with GNV_LOST. */
  GNV_QUEUE_LOST = 2,
};

/* A command in flight. The slot number is in the low `slot_bits` bits of its identifier, a generation above. */
typedef struct gnv_slot {
  uint64_t outcome;
  uint64_t deadline_ns;
} gnv_slot;

/* A submission queue and a completion queue of its own. */
typedef struct gnv_queue {
  /* Constant while kernels run. */

  /* `entries` entries of 64 bytes. */
  void* sq;
  /* `entries` entries of 16 bytes, initially 0. */
  const uint64_t* cq;
  uint32_t* tail_doorbell;
  uint32_t* head_doorbell;
  /* `prp_list_bytes` bytes per slot, whole pages of `page_bytes`. */
  uint64_t* prp_lists;
  gnv_runs prp_list_runs;
  /* `slot_count`. */
  gnv_slot* slots;
  /* `entries` words: position + 1, modulo 2^32, of the last complete entry at this place of the SQ. */
  uint32_t* ready;
  /* `entries` words: a ring of free slots, as slot + 1, or 0. */
  uint32_t* free_slots;
  /* A power of two. */
  uint32_t entries;
  /*
   * At most entries - 1, so that neither queue can overflow, and at most 4095, so that an identifier recurs only after 16
   * uses of its slot. Three quarters of `entries` take the fewest head doorbell writes.
   */
  uint32_t slot_count;
  /* The smallest number with 2^slot_bits > slot_count; set by gnv_init_queue. */
  uint32_t slot_bits;
  uint32_t qid;
  uint32_t prp_list_bytes;
  uint32_t page_bytes;
  /* gnv_state; the only word that the host may change while kernels run. */
  uint32_t state;
  uint32_t reserved0[5];

  /* Positions count modulo 2^32 from 0. */

  /* Number of slots that may be taken, as a signed number; transiently negative. */
  uint32_t free_count;
  uint32_t free_head;
  uint32_t free_tail;
  /* Next SQ position to assign. */
  uint32_t sq_ticket;
  uint32_t reserved1[28];

  /* Number of requests to ring the doorbell; the thread that makes it 1 rings. */
  uint32_t ring_requests;
  /* First SQ position not yet announced; number of tail doorbell writes. Owned by the ringing thread. */
  uint32_t sq_tail;
  uint32_t tail_doorbell_writes;
  uint32_t reserved2[29];

  /* 1: a warp consumes completions. It owns the words below. */
  uint32_t cq_lock;
  uint32_t cq_head;
  /* First CQ position not yet released; number of head doorbell writes. */
  uint32_t cq_released;
  uint32_t head_doorbell_writes;
  /* Completions that match no command in flight. */
  uint32_t stale;
  uint32_t reserved3[27];
} gnv_queue;

/*
 * Sets the initial state of a queue whose SQ tail and CQ head are 0: `slots`, `ready`, `free_slots`, `slot_bits`, and all words
 * that are not constant. The caller has set the other constant words and zeroed the CQ. Call it in a kernel, or on the host if
 * `slots`, `ready` and `free_slots` are accessible there.
 */
GNV_FUNCTION void gnv_init_queue(gnv_queue* queue) {
  uint32_t index;
  queue->slot_bits = 0;
  while ((1u << queue->slot_bits) <= queue->slot_count) queue->slot_bits++;
  for (index = 0; index < queue->entries; index++) {
    const int is_slot = index < queue->slot_count;
    if (is_slot) queue->slots[index].outcome = GNV_TAKEN | (uint64_t)index << GNV_CID_SHIFT;
    if (is_slot) queue->slots[index].deadline_ns = 0;
    queue->free_slots[index] = is_slot ? index + 1 : 0;
    queue->ready[index] = 0;
  }
  queue->state = GNV_RUNNING;
  queue->free_count = queue->free_tail = queue->slot_count;
  queue->free_head = queue->sq_ticket = 0;
  queue->ring_requests = queue->sq_tail = queue->tail_doorbell_writes = 0;
  queue->cq_lock = queue->cq_head = queue->cq_released = queue->head_doorbell_writes = queue->stale = 0;
}

#define GNV_WRITABLE 1u

/* A namespace, and the queues of its controller that its commands use. */
typedef struct gnv_drive {
  uint64_t blocks;
  uint32_t nsid;
  /* A block has 2^block_shift bytes. */
  uint32_t block_shift;
  /* Per command: by MDTS, by the length of PRP lists, and at most 65536. */
  uint32_t max_blocks;
  /* At least 1, in `queues` of the device. */
  uint32_t first_queue;
  uint32_t queue_count;
  /* GNV_WRITABLE or 0. */
  uint32_t flags;
} gnv_drive;

/* Passed to kernels by value. */
typedef struct gnv_device {
  uint32_t version;
  uint32_t drive_count;
  const gnv_drive* drives;
  gnv_queue* queues;
  /* Time limit of a command, from its submission. At most 2^62. */
  uint64_t timeout_ns;
} gnv_device;

#if defined(__cplusplus)
}
static_assert(sizeof(gnv_slot) == 16 && sizeof(gnv_drive) == 32 && sizeof(gnv_device) == 32, "read by other programs");
static_assert(sizeof(gnv_queue) == 512, "words that different threads change are in different cache lines");
#endif
