// A minimal NVMe controller on libvfio-user, as an independent server: Admin and two I/O queue pairs, 64 MiB of memory
// as namespace 1, MSI-X. Prints statistics of the requests when its client disconnects.
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "libvfio-user.h"

#define BAR_BYTES 0x4000
#define DOORBELLS 0x1000
#define BLOCK_BYTES 512
#define BLOCKS 131072
#define QUEUES 3
#define WINDOWS 64

// Status fields without the Phase Tag: Status Code, Status Code Type, Do Not Retry.
enum { SUCCESS = 0, INVALID_OPCODE = 0x4001, INVALID_FIELD = 0x4002, DATA_TRANSFER_ERROR = 0x0004, LBA_OUT_OF_RANGE = 0x4080 };
enum { CC = 0x14, CSTS = 0x1c, AQA = 0x24, ASQ = 0x28, ACQ = 0x30, REGISTERS_END = 0x38 };

struct window { uint64_t iova, bytes; char *address; };
struct sq { uint64_t iova; uint32_t entries, head, tail, cqid; };
struct cq { uint64_t iova; uint32_t entries, tail, phase; int vector; };

static vfu_ctx_t *context;
static struct window windows[WINDOWS];
static int window_count;
static uint8_t registers[DOORBELLS];
static uint8_t *media;
static struct sq sqs[QUEUES];
static struct cq cqs[QUEUES];
static unsigned long reads, writes, maps, unmaps, resets, interrupts;

// Returns the client's memory at an IOVA, or NULL if it is not mapped.
static void *reach(uint64_t iova, uint64_t bytes) {
  for (int i = 0; i < window_count; i++) {
    const struct window *w = &windows[i];
    if (iova >= w->iova && bytes <= w->bytes && iova - w->iova <= w->bytes - bytes) return w->address + (iova - w->iova);
  }
  return NULL;
}

static void on_map(vfu_ctx_t *ctx, vfu_dma_info_t *info) {
  (void)ctx;
  maps++;
  if (info->vaddr == NULL || window_count == WINDOWS) return;
  windows[window_count++] =
      (struct window){(uint64_t)(uintptr_t)info->iova.iov_base, info->iova.iov_len, (char *)info->vaddr};
}

static void on_unmap(vfu_ctx_t *ctx, vfu_dma_info_t *info) {
  (void)ctx;
  unmaps++;
  for (int i = 0; i < window_count; i++)
    if (windows[i].iova == (uint64_t)(uintptr_t)info->iova.iov_base) {
      windows[i] = windows[--window_count];
      return;
    }
}

static uint32_t register32(uint32_t offset) {
  uint32_t value;
  memcpy(&value, registers + offset, sizeof(value));
  return value;
}

static uint64_t register64(uint32_t offset) { return register32(offset) | (uint64_t)register32(offset + 4) << 32; }

static void set_register(uint32_t offset, uint32_t value) { memcpy(registers + offset, &value, sizeof(value)); }

static void complete(struct sq *sq, const uint32_t *sqe, uint32_t status, uint32_t result) {
  struct cq *cq = &cqs[sq->cqid];
  uint32_t *cqe = reach(cq->iova + 16 * cq->tail, 16);
  if (cqe == NULL) return;
  cqe[0] = result;
  cqe[1] = 0;
  cqe[2] = sq->head | (uint32_t)(sq - sqs) << 16;
  // The Phase Tag is stored last, since the host then consumes the entry.
  __atomic_store_n(&cqe[3], sqe[0] >> 16 | (status << 1 | cq->phase) << 16, __ATOMIC_RELEASE);
  if (++cq->tail == cq->entries) {
    cq->tail = 0;
    cq->phase ^= 1;
  }
  if (cq->vector < 0) return;
  interrupts++;
  vfu_irq_trigger(context, cq->vector);
}

// Transfers data as described by PRPs, to or from the host.
static uint32_t transfer(const uint32_t *sqe, uint8_t *data, uint32_t bytes, int to_host) {
  uint64_t page = sqe[6] | (uint64_t)sqe[7] << 32;
  const uint64_t prp2 = sqe[8] | (uint64_t)sqe[9] << 32;
  uint64_t entry = 0;
  for (uint32_t done = 0; done < bytes;) {
    uint32_t part = 4096 - (page & 4095);
    if (part > bytes - done) part = bytes - done;
    void *memory = reach(page, part);
    if (memory == NULL) return DATA_TRANSFER_ERROR;
    if (to_host)
      memcpy(memory, data + done, part);
    else
      memcpy(data + done, memory, part);
    done += part;
    if (done == bytes) break;
    if (entry == 0 && bytes - done <= 4096) {
      page = prp2;
      continue;
    }
    if (entry == 0) entry = prp2;
    uint64_t *prp = reach(entry, 8);
    if (prp == NULL) return DATA_TRANSFER_ERROR;
    // The last entry of a list page points to the next list page, if more than one page of data is left.
    if ((entry & 4095) == 4088 && bytes - done > 4096) {
      entry = *prp;
      prp = reach(entry, 8);
      if (prp == NULL) return DATA_TRANSFER_ERROR;
    }
    page = *prp;
    entry += 8;
  }
  return SUCCESS;
}

static void put_text(uint8_t *field, const char *text, size_t bytes) {
  memset(field, ' ', bytes);
  memcpy(field, text, strlen(text));
}

static uint32_t identify(const uint32_t *sqe) {
  uint8_t data[4096] = {0};
  const uint64_t blocks = BLOCKS;
  switch (sqe[10] & 0xff) {
    case 0:  // namespace: NSZE, NCAP, NUSE and blocks of 512 bytes
      for (int i = 0; i < 3; i++) memcpy(data + 8 * i, &blocks, 8);
      data[130] = 9;
      break;
    case 1:  // controller
      data[0] = 0x36, data[1] = 0x1b;
      put_text(data + 4, "LIBVFIOUSER1", 20);
      put_text(data + 24, "libvfio-user target", 40);
      put_text(data + 64, "1", 8);
      data[77] = 5;                                // MDTS: 128 KiB
      data[78] = 1;                                // CNTLID
      data[81] = 4, data[82] = 1;                  // VER 1.4
      data[111] = 1;                               // CNTRLTYPE: an I/O controller
      data[512] = 0x66, data[513] = 0x44;          // SQES, CQES
      data[516] = 1;                               // NN
      strcpy((char *)data + 768, "nqn.2014-08.org.example:libvfio-user");
      break;
    case 2:  // active namespaces
      if (sqe[1] == 0) data[0] = 1;
      break;
    case 3:  // identifiers: an EUI64
      data[0] = 1, data[1] = 8, data[4] = 1;
      break;
    default:
      return INVALID_FIELD;
  }
  return transfer(sqe, data, sizeof(data), 1);
}

static void do_admin(struct sq *sq, const uint32_t *sqe) {
  static uint8_t zeroes[4096];
  const uint64_t prp1 = sqe[6] | (uint64_t)sqe[7] << 32;
  const uint32_t qid = sqe[10] & 0xffff;
  const int is_queue = qid >= 1 && qid < QUEUES;
  switch (sqe[0] & 0xff) {
    case 0x00:  // Delete I/O Submission Queue
      if (is_queue) sqs[qid].entries = 0;
      return complete(sq, sqe, is_queue ? SUCCESS : INVALID_FIELD, 0);
    case 0x01:  // Create I/O Submission Queue
      if (!is_queue || sqe[11] >> 16 >= QUEUES) return complete(sq, sqe, INVALID_FIELD, 0);
      sqs[qid] = (struct sq){.iova = prp1, .entries = (sqe[10] >> 16) + 1, .cqid = sqe[11] >> 16};
      return complete(sq, sqe, SUCCESS, 0);
    case 0x02: {  // Get Log Page: all of them are zero
      const uint32_t bytes = ((sqe[10] >> 16 | sqe[11] << 16) + 1) * 4;
      return complete(sq, sqe, bytes > 4096 ? INVALID_FIELD : transfer(sqe, zeroes, bytes, 1), 0);
    }
    case 0x04:  // Delete I/O Completion Queue
      return complete(sq, sqe, is_queue ? SUCCESS : INVALID_FIELD, 0);
    case 0x05:  // Create I/O Completion Queue
      if (!is_queue) return complete(sq, sqe, INVALID_FIELD, 0);
      cqs[qid] = (struct cq){prp1, (sqe[10] >> 16) + 1, 0, 1, sqe[11] & 2 ? (int)(sqe[11] >> 16) : -1};
      return complete(sq, sqe, SUCCESS, 0);
    case 0x06:
      return complete(sq, sqe, identify(sqe), 0);
    case 0x09:
    case 0x0a:  // Features: Number of Queues alone, both 0's based
      if ((sqe[10] & 0xff) != 7) return complete(sq, sqe, INVALID_FIELD, 0);
      return complete(sq, sqe, SUCCESS, (QUEUES - 2) << 16 | (QUEUES - 2));
    case 0x0c:  // Asynchronous Event Request: there is none
      return;
    default:
      return complete(sq, sqe, INVALID_OPCODE, 0);
  }
}

static void do_io(struct sq *sq, const uint32_t *sqe) {
  const uint32_t opcode = sqe[0] & 0xff;
  const uint64_t slba = sqe[10] | (uint64_t)sqe[11] << 32;
  const uint32_t blocks = (sqe[12] & 0xffff) + 1;
  if (opcode == 0) return complete(sq, sqe, SUCCESS, 0);
  if (opcode > 2) return complete(sq, sqe, INVALID_OPCODE, 0);
  if (slba >= BLOCKS || blocks > BLOCKS - slba) return complete(sq, sqe, LBA_OUT_OF_RANGE, 0);
  complete(sq, sqe, transfer(sqe, media + slba * BLOCK_BYTES, blocks * BLOCK_BYTES, opcode == 2), 0);
}

static void on_tail(uint32_t qid, uint32_t tail) {
  struct sq *sq = &sqs[qid];
  if (tail >= sq->entries) return;
  sq->tail = tail;
  while (sq->entries > 0 && sq->head != sq->tail) {
    uint32_t sqe[16];
    const void *entry = reach(sq->iova + 64 * sq->head, 64);
    if (entry == NULL) return;
    memcpy(sqe, entry, sizeof(sqe));
    if (++sq->head == sq->entries) sq->head = 0;
    if (qid == 0)
      do_admin(sq, sqe);
    else
      do_io(sq, sqe);
  }
}

static void forget_queues(void) {
  memset(sqs, 0, sizeof(sqs));
  memset(cqs, 0, sizeof(cqs));
  set_register(CSTS, 0);
}

static void on_configuration(uint32_t value) {
  const uint32_t before = register32(CC);
  set_register(CC, value);
  if ((value & 1) != 0 && (before & 1) == 0) {
    const uint32_t aqa = register32(AQA);
    sqs[0] = (struct sq){.iova = register64(ASQ), .entries = (aqa & 0xfff) + 1};
    cqs[0] = (struct cq){register64(ACQ), (aqa >> 16 & 0xfff) + 1, 0, 1, 0};
    set_register(CSTS, 1);
  } else if ((value & 1) == 0 && (before & 1) != 0) {
    forget_queues();
  } else if ((value >> 14 & 3) != 0) {
    set_register(CSTS, register32(CSTS) | 2 << 2);  // SHST: shutdown is complete
  }
}

static void write32(uint32_t offset, uint32_t value) {
  if (offset >= DOORBELLS) {
    const uint32_t doorbell = (offset - DOORBELLS) / 4;
    if (doorbell % 2 == 0 && doorbell / 2 < QUEUES) on_tail(doorbell / 2, value);
  } else if (offset == CC) {
    on_configuration(value);
  } else if (offset >= AQA && offset < REGISTERS_END) {
    set_register(offset, value);
  }
}

static ssize_t on_access(vfu_ctx_t *ctx, char *bytes, size_t count, loff_t offset, bool is_write) {
  (void)ctx;
  if ((count != 4 && count != 8) || offset % 4 != 0 || (size_t)offset + count > BAR_BYTES) {
    errno = EINVAL;
    return -1;
  }
  if (!is_write) {
    reads++;
    memset(bytes, 0, count);
    if ((size_t)offset + count <= sizeof(registers)) memcpy(bytes, registers + offset, count);
    return (ssize_t)count;
  }
  writes++;
  for (size_t at = 0; at < count; at += 4) {
    uint32_t value;
    memcpy(&value, bytes + at, sizeof(value));
    write32((uint32_t)offset + (uint32_t)at, value);
  }
  return (ssize_t)count;
}

static int on_reset(vfu_ctx_t *ctx, vfu_reset_type_t type) {
  (void)ctx;
  if (type == VFU_RESET_DEVICE) resets++;
  forget_queues();
  memset(registers + CC, 0, REGISTERS_END - CC);
  if (type != VFU_RESET_LOST_CONN) return 0;
  printf("{\"reads\":%lu,\"writes\":%lu,\"maps\":%lu,\"unmaps\":%lu,\"resets\":%lu,\"interrupts\":%lu,\"mapped\":%d}\n",
         reads, writes, maps, unmaps, resets, interrupts, window_count);
  fflush(stdout);
  return 0;
}

int main(int argc, char **argv) {
  if (argc != 2) return 2;
  // CAP: MQES 1023, CQR, TO 10 s, the NVM Command Set; VS 1.4.
  const uint64_t cap = 0x3ff | 1ull << 16 | 20ull << 24 | 1ull << 37;
  memcpy(registers, &cap, sizeof(cap));
  set_register(8, 0x00010400);
  media = mmap(NULL, (size_t)BLOCKS * BLOCK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  context = vfu_create_ctx(VFU_TRANS_SOCK, argv[1], 0, NULL, VFU_DEV_TYPE_PCI);
  if (media == MAP_FAILED || context == NULL) return 1;
  struct msixcap msix = {.hdr.id = PCI_CAP_ID_MSIX, .mxc.ts = 3, .mtab.to = 0x2000 >> 3, .mpba.pbao = 0x3000 >> 3};
  if (vfu_pci_init(context, VFU_PCI_TYPE_EXPRESS, PCI_HEADER_TYPE_NORMAL, 0) < 0) return 1;
  vfu_pci_set_id(context, 0x1b36, 0x0010, 0x1b36, 0);
  vfu_pci_set_class(context, 0x01, 0x08, 0x02);
  if (vfu_pci_add_capability(context, 0, 0, &msix) < 0 ||
      vfu_setup_region(context, VFU_PCI_DEV_BAR0_REGION_IDX, BAR_BYTES, on_access, VFU_REGION_FLAG_RW, NULL, 0, -1, 0) < 0 ||
      vfu_setup_device_reset_cb(context, on_reset) < 0 ||
      vfu_setup_device_dma(context, LIBVFIO_USER_MAX_DMA_REGIONS, on_map, on_unmap) < 0 ||
      vfu_setup_device_nr_irqs(context, VFU_DEV_MSIX_IRQ, 4) < 0 || vfu_realize_ctx(context) < 0) {
    perror("libvfio-user");
    return 1;
  }
  while (vfu_attach_ctx(context) == 0) {
    while (vfu_run_ctx(context) >= 0 || errno == EINTR || errno == EAGAIN) continue;
    if (errno != ENOTCONN) break;
  }
  perror("libvfio-user");
  return 1;
}
