// The original loop, re-created for comparison: the steps of an earlier system for each 4 KiB command. One thread. The queue's
// state is in pinned host memory, so each access to a field crosses PCIe. Five dependent read-modify-writes of that memory build
// the first dword of an entry. Every command and every completion has its own doorbell write. Each completion takes three loads.
// Completions are counted, and not matched to commands.
//
// For measurement only. The numbers of accesses are those of that system's compiled code for sm_86: 13 loads and 22 stores per
// command, and 3 loads per completion.
#pragma once

#include "target.cuh"

namespace gpunvme {

// In pinned host memory: each access to a field is a PCIe transaction.
struct OriginalQueue {
  uint64_t sq;
  uint64_t cq;
  uint64_t tail_doorbell;
  uint64_t head_doorbell;
  uint32_t entries;
  uint32_t tail;
  uint32_t head;
  uint32_t phase;
  uint32_t cid;
  uint32_t nsid;
  uint32_t block_bytes;
  uint32_t reserved;
};

struct OriginalRun {
  OriginalQueue* queue;
  // Device address of the data, one page per command. Commands use the `pages` pages in turn.
  uint64_t data;
  uint64_t pages;
  uint64_t commands;
  uint64_t depth;
  // Time limit for each completion.
  uint64_t timeout_ns;
  // Written at the end: commands that succeeded, and nanoseconds from the first to the last.
  uint64_t succeeded;
  uint64_t ns;
};

// Loads and stores words of pinned memory, without caching them in registers. Another class counts the accesses.
struct PinnedWords {
  template <class Word>
  static GPUNVME_DEVICE Word load(const Word* at) {
    return *static_cast<const volatile Word*>(at);
  }
  template <class Word>
  static GPUNVME_DEVICE void store(Word* at, Word value) {
    *static_cast<volatile Word*>(at) = value;
  }
};

template <class Port, class Words>
GPUNVME_DEVICE void original_submit(OriginalQueue* queue, uint64_t slba, uint64_t prp1) {
  const uint32_t cid = Words::load(&queue->cid);
  Words::store(&queue->cid, cid + 1);
  const uint32_t tail = Words::load(&queue->tail);
  auto* entry = reinterpret_cast<uint32_t*>(static_cast<uintptr_t>(Words::load(&queue->sq) + 64ULL * tail));
  // Opcode, fused operation, reserved, PSDT, command identifier.
  Words::store(entry, (Words::load(entry) & ~0xffu) | GPUNVME_NVM_OPCODE_READ);
  Words::store(entry, Words::load(entry) & ~0x300u);
  Words::store(entry, Words::load(entry) & ~0x3c00u);
  Words::store(entry, Words::load(entry) & ~0xc000u);
  Words::store(entry, (Words::load(entry) & 0xffffu) | cid << 16);
  const uint32_t nlb = 4096 / Words::load(&queue->block_bytes) - 1;
  const uint32_t rest[15] = {Words::load(&queue->nsid), 0, 0, 0, 0, static_cast<uint32_t>(prp1),
                             static_cast<uint32_t>(prp1 >> 32), 0, 0, static_cast<uint32_t>(slba),
                             static_cast<uint32_t>(slba >> 32), nlb, 0, 0, 0};
  for (uint32_t i = 0; i < 15; i++) Words::store(entry + 1 + i, rest[i]);
  Words::store(&queue->tail, tail + 1 == Words::load(&queue->entries) ? 0 : tail + 1);
  Port::fence();
  Port::mmio_store32(reinterpret_cast<uint32_t*>(static_cast<uintptr_t>(Words::load(&queue->tail_doorbell))),
                     Words::load(&queue->tail));
  Port::fence();
}

// Returns whether a completion arrived within the time limit and reports success.
template <class Port, class Words>
GPUNVME_DEVICE bool original_poll(OriginalQueue* queue, uint64_t timeout_ns) {
  const uint64_t until_ns = Port::now_ns() + timeout_ns;
  for (;;) {
    const uint32_t head = Words::load(&queue->head);
    auto* entry = reinterpret_cast<const uint32_t*>(static_cast<uintptr_t>(Words::load(&queue->cq) + 16ULL * head));
    const uint32_t dw3 = Words::load(entry + 3);
    const uint32_t phase = Words::load(&queue->phase);
    if ((dw3 >> 16 & 1) == phase) {
      static_cast<void>(Words::load(entry));
      static_cast<void>(Words::load(entry + 2));
      const uint32_t next = head + 1 == Words::load(&queue->entries) ? 0 : head + 1;
      Words::store(&queue->head, next);
      if (next == 0) Words::store(&queue->phase, phase ^ 1);
      Port::mmio_store32(reinterpret_cast<uint32_t*>(static_cast<uintptr_t>(Words::load(&queue->head_doorbell))), next);
      return dw3 >> 17 == 0;
    }
    if (Port::now_ns() > until_ns) return false;
  }
}

template <class Port, class Words>
GPUNVME_DEVICE void original_read(OriginalRun& run) {
  // The run is in pinned memory too. It is loaded once, so that its loads do not affect the measurement.
  const OriginalRun given = run;
  const uint64_t start_ns = Port::now_ns();
  uint64_t submitted = 0;
  uint64_t succeeded = 0;
  const auto submit = [&] {
    original_submit<Port, Words>(given.queue, 8 * submitted, given.data + 4096 * (submitted % given.pages));
    submitted++;
  };
  while (submitted < given.commands && submitted < given.depth) submit();
  for (uint64_t completed = 0; completed < submitted; completed++) {
    if (!original_poll<Port, Words>(given.queue, given.timeout_ns)) break;
    succeeded++;
    if (submitted < given.commands) submit();
  }
  run.succeeded = succeeded;
  run.ns = Port::now_ns() - start_ns;
}

}  // namespace gpunvme
