/*
 * C layout of a fetch (fetch.cuh): GPU threads read and verify the experts that a router has selected, without the host.
 *
 * A table locates the experts of a model on its drives. It holds no pointers: the host creates it once (expertTable of
 * @gpunvme/layer-loader) and copies it to GPU memory. Callers must check `version`; device code does not. All numbers are
 * little-endian.
 */
#pragma once

#include "gpunvme_device.h"

#if defined(__cplusplus)
extern "C" {
#endif

/* Incremented with every change to a structure or a value in this file. */
#define GNV_FETCH_VERSION 1

/* Maximum number of experts that one fetch requests. */
#define GNV_FETCH_MAX_POSITIONS 512u

/* Identifier that requests nothing, for example because the expert is already in memory. */
#define GNV_FETCH_SKIP 0xffffffffu

/* Data of an expert in consecutive blocks of a drive: a tensor, or the expert's slice of a stacked tensor. */
typedef struct gnv_extent {
  uint64_t first_block;
  /*
   * Offset of the first block in the expert's destination: a multiple of 16, and not before the end of the previous extent. The
   * data start `skip` bytes after it.
   */
  uint64_t offset;
  /* Number of data bytes, at least 1. */
  uint64_t bytes;
  /* Offset of the data in the first block. */
  uint32_t skip;
  uint32_t drive;
  /* CRC-32/ISO-HDLC of the data. */
  uint32_t crc32;
  uint32_t reserved;
} gnv_extent;

typedef struct gnv_expert {
  /* Size of the destination: whole blocks of all extents. At most 2^40. */
  uint64_t bytes;
  uint32_t first_extent;
  /* 0: the layer has no expert with this number. At most max_extents of the table. */
  uint32_t extent_count;
} gnv_expert;

/* The experts of a layer, by their number from 0. */
typedef struct gnv_layer {
  uint32_t first_expert;
  uint32_t expert_count;
} gnv_layer;

/* The table starts with this structure. Offsets count from its start, and are multiples of 8. */
typedef struct gnv_table {
  uint32_t version;
  uint32_t layer_count;
  uint32_t expert_count;
  uint32_t extent_count;
  /* Maximum extents of an expert, at most 65536. */
  uint32_t max_extents;
  /* A block has 2^block_shift bytes, on all drives of the table. */
  uint32_t block_shift;
  /* Maximum `bytes` of an expert. */
  uint64_t max_bytes;
  uint64_t layers_offset;
  uint64_t experts_offset;
  uint64_t extents_offset;
  /* Size of the table. */
  uint64_t bytes;
} gnv_table;

/* Memory for one expert, in the buffer of the fetch. */
typedef struct gnv_destination {
  /* A multiple of 16. */
  uint64_t offset;
  uint64_t bytes;
} gnv_destination;

enum gnv_fetch_ending {
  /* No result yet. */
  GNV_FETCH_PENDING = 0,
  /* All data arrived and match their checksums. */
  GNV_FETCH_VERIFIED = 1,
  /* All data arrived, but an extent does not match its checksum: see `expected` and `actual`. */
  GNV_FETCH_CORRUPT = 2,
  /*
   * A read did not succeed: `read` is its outcome (gnv_ending). Other reads of the expert may have succeeded. GNV_HALTED also if
   * all reads succeeded and a queue of the device is halted or lost: the controller may still write to the destination.
   */
  GNV_FETCH_READ_FAILED = 3,
  /* Nothing was read: see gnv_fetch_reason. */
  GNV_FETCH_REJECTED = 4,
  /* The identifier was GNV_FETCH_SKIP. */
  GNV_FETCH_SKIPPED = 5,
};

enum gnv_fetch_reason {
  /* The table has no such layer. */
  GNV_FETCH_BAD_LAYER = 1,
  /* The layer has no expert with this identifier. */
  GNV_FETCH_BAD_EXPERT = 2,
  /* An extent of the table is misaligned, overlaps another or precedes it, or is not inside the expert, the table, or the drive. */
  GNV_FETCH_BAD_EXTENT = 3,
  /* No such drive, one whose max_blocks is 0, or one whose blocks differ from the table's. */
  GNV_FETCH_BAD_DRIVE = 4,
  /*
   * The destination is misaligned, smaller than the expert, not inside the buffer, or overlaps that of a lower position; or the
   * GPU cannot read the buffer.
   */
  GNV_FETCH_BAD_DESTINATION = 5,
  /* More than GNV_FETCH_MAX_POSITIONS experts. */
  GNV_FETCH_BAD_COUNT = 6,
  /* The number of threads in a block is not a multiple of 32. */
  GNV_FETCH_BAD_BLOCK = 7,
};

/* Result of the request at one position. */
typedef struct gnv_fetch_result {
  /* gnv_fetch_ending. Stored last, with release order at the scope of the GPU. */
  uint32_t ending;
  /* gnv_fetch_reason if `ending` is GNV_FETCH_REJECTED, else 0. */
  uint32_t reason;
  /* Position whose destination has the data: the first one with the same identifier. */
  uint32_t position;
  /* The extent of the expert that was corrupt or not read. */
  uint32_t extent;
  /* For GNV_FETCH_CORRUPT: the CRC-32 in the table, and that of the bytes read. */
  uint32_t expected;
  uint32_t actual;
  /* For GNV_FETCH_READ_FAILED: outcome of the failed read, encoded as in gpunvme_device.h. */
  uint64_t read;
} gnv_fetch_result;

/* Progress of one position. 0 before and after each fetch. */
typedef struct gnv_fetch_progress {
  /* Failed read: its outcome in bits 39:0, and its extent in bits 63:48. */
  uint64_t failure;
  /* Number of reads that have ended. */
  uint32_t ended;
  uint32_t reserved;
} gnv_fetch_progress;

/* A fetch, passed to a kernel by value. All pointers are GPU addresses; arrays have `count` elements. */
typedef struct gnv_fetch {
  const gnv_table* table;
  /* Identifiers, stored by the router: numbers of experts in the layer. */
  const uint32_t* ids;
  const gnv_destination* destinations;
  gnv_fetch_result* results;
  /* Used by one fetch at a time. Zero it before the first fetch. */
  gnv_fetch_progress* progress;
  /* `count` times max_extents of the table. Same rules as `progress`. */
  uint32_t* crcs;
  /* Memory for data, which the GPU can read. */
  gnv_buffer buffer;
  uint32_t layer;
  uint32_t count;
  /* Maximum bytes of a read; 0: the maximum of the drive. A value below one block means one block. */
  uint64_t max_read_bytes;
} gnv_fetch;

#if defined(__cplusplus)
}
static_assert(sizeof(gnv_extent) == 40 && sizeof(gnv_expert) == 16 && sizeof(gnv_layer) == 8 && sizeof(gnv_table) == 64 &&
                  sizeof(gnv_destination) == 16 && sizeof(gnv_fetch_result) == 32 && sizeof(gnv_fetch_progress) == 16 &&
                  sizeof(gnv_fetch) == 96,
              "read and written by other programs");
#endif
