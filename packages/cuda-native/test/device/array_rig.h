// A gnv::Array over queues and a cache in plain memory, and a model of a controller whose namespace has a value at each LBA.
// For any team and port.
#pragma once

#include <algorithm>

#include "array.cuh"
#include "shared_rig.h"

namespace model {

struct ArrayLayout {
  uint32_t set_shift = 0;
  uint32_t ways = 4;
  uint32_t queues = 2;
  uint32_t entries = 16;
  uint64_t timeout_ns = 1ULL << 62;
};

class ArrayRig {
 public:
  // Blocks of 16 bytes, which gnv_check_array rejects: a small model has many of them. A page has 4 pages of the controller, so that each read has a PRP list.
  static constexpr uint32_t kPageShift = 8, kPageBlocks = 16, kInPage = 32;
  // Above 2^32, and not a multiple of a page.
  static constexpr uint64_t kFirst = (1ULL << 40) + 5;
  // 2^39 pages and a block.
  static constexpr uint64_t kBytes = (1ULL << 47) + 16;

  explicit ArrayRig(const ArrayLayout& layout)
      : shared({.queues = layout.queues,
                .entries = layout.entries,
                .slots = layout.entries - 1,
                .commands = layout.ways << layout.set_shift,
                .timeout_ns = layout.timeout_ns}),
        slots(layout.ways << layout.set_shift),
        sets(1u << layout.set_shift),
        words(slots),
        outcomes(slots) {
    shared.drives[0].blocks = kFirst + kBytes / 16;
    array = {GNV_ARRAY_VERSION, 0, shared.device, kFirst, kBytes, shared.buffer, sets.data(), words.data(), outcomes.data(), kPageShift,
             SharedRig::kBlockShift, layout.set_shift, layout.ways};
    gnv_init_array(&array);
  }

  // The value at an index of the array: a function of its place in the namespace.
  static uint64_t content(uint64_t index) {
    const uint64_t place = 2 * kFirst + index;
    return (place ^ place >> 31) * 0x9e3779b97f4a7c15;
  }

  // One step of a controller: fetches a read, or completes one in any order. Returns false if it had nothing to do.
  struct Faults {
    uint32_t status_once_in = 0, drop_once_in = 0, late_once_in = 0;
  };
  bool turn(Random& random, const Faults& faults) {
    const uint32_t number = random.below(shared.queues.size());
    Controller& controller = shared.queues[number]->controller;
    if (controller.announced(controller.sqs[0]) > 0 && !random.once_in(4)) {
      fetch(number);
      return true;
    }
    const auto strikes = [&](uint32_t times) { return times > 0 && random.once_in(times); };
    if (reads.empty() || controller.room() == 0) return false;
    Read& chosen = reads[random.below(reads.size())];
    if (chosen.queue != number || (chosen.is_dropped && !strikes(faults.late_once_in))) return false;
    if (!chosen.is_dropped && strikes(faults.drop_once_in)) {
      chosen.is_dropped = true;
      drops++;
      return true;
    }
    const Read read = chosen;
    reads.erase(reads.begin() + (&chosen - reads.data()));
    complete(read, strikes(faults.status_once_in) ? 0x0281 : 0);
    return true;
  }

  // No page is in two slots. For threads that do not run meanwhile.
  void audit() const {
    std::vector<uint64_t> pages;
    for (const uint64_t word : words)
      if (state_in(word) == GNV_PAGE_LOADING || state_in(word) == GNV_PAGE_VALID) pages.push_back(page_in(word));
    std::sort(pages.begin(), pages.end());
    const auto twice = std::adjacent_find(pages.begin(), pages.end());
    REQUIRE(twice == pages.end(), "page %llu is in two slots", ull(*twice));
  }

  // Checks the cache after the threads have ended. @returns the sum of the statistics.
  gnv_page_set finish() const {
    gnv_page_set sum = {};
    for (const gnv_page_set& set : sets) {
      REQUIRE(set.lock == 0, "a set is locked");
      sum.hits += set.hits;
      sum.misses += set.misses;
      sum.coalesced += set.coalesced;
      sum.evictions += set.evictions;
      sum.busy += set.busy;
    }
    for (uint32_t slot = 0; slot < slots; slot++) {
      REQUIRE(references_in(words[slot]) == 0, "slot %u has %u references", slot, references_in(words[slot]));
      REQUIRE(state_in(words[slot]) <= GNV_PAGE_QUARANTINED && state_in(words[slot]) != GNV_PAGE_LOADING, "slot %u has state %u", slot, state_in(words[slot]));
    }
    audit();
    return sum;
  }

  SharedRig shared;
  gnv_array array;
  const uint32_t slots;
  std::vector<gnv_page_set> sets;
  std::vector<uint64_t> words, outcomes;
  // Reads that were fetched, those that failed with a status, and those whose completion was held back.
  uint64_t fetches = 0, failures = 0, drops = 0;
  // The status of all reads, if it is not 0.
  uint16_t status = 0;

 private:
  struct Read {
    uint32_t queue;
    uint16_t cid;
    uint64_t page;
    uint32_t slot;
    uint32_t bytes;
    bool is_dropped;
  };

  // A slot that is read into keeps its page until the controller has no command for it.
  void require_reserved(uint32_t slot, uint64_t page) const {
    const uint64_t word = load(&words[slot]);
    const gnv_page_state state = state_in(word);
    REQUIRE(page_in(word) == page && (state == GNV_PAGE_LOADING || state == GNV_PAGE_QUARANTINED),
            "the controller accesses slot %u for page %llu; it has page %llu in state %u", slot, ull(page), ull(page_in(word)), state);
  }

  void fetch(uint32_t number) {
    Controller& controller = shared.queues[number]->controller;
    Controller::Sq& sq = controller.sqs[0];
    uint32_t dw[16];
    for (uint32_t i = 0; i < 16; i++) dw[i] = sq.entries_at[16 * sq.head + i];
    sq.head = (sq.head + 1) % sq.entries;
    const auto word = [&](uint32_t at) { return static_cast<uint64_t>(dw[at + 1]) << 32 | dw[at]; };
    const uint64_t slba = word(10), blocks = dw[12] + 1;
    REQUIRE((dw[0] & 0xffff) == GPUNVME_NVM_OPCODE_READ && dw[1] == SharedRig::kNsid, "opcode %x, NSID %u", dw[0] & 0xff, dw[1]);
    REQUIRE(slba >= kFirst && (slba - kFirst) % kPageBlocks == 0, "SLBA %llu is not the start of a page", ull(slba));
    const uint64_t page = (slba - kFirst) / kPageBlocks;
    REQUIRE(blocks == std::min<uint64_t>(kPageBlocks, kFirst + kBytes / 16 - slba), "%llu blocks of page %llu", ull(blocks), ull(page));
    const auto segments = controller.segments(word(6), word(8), blocks * 16);
    const auto offset = static_cast<uint64_t>(segments[0].host - shared.memory.data());
    uint64_t end = offset;
    for (const Segment& segment : segments) {
      REQUIRE(segment.host == shared.memory.data() + end, "page %llu is read into several slots", ull(page));
      end += segment.bytes;
    }
    const auto slot = static_cast<uint32_t>(offset >> kPageShift);
    REQUIRE(offset % (1 << kPageShift) == 0 && slot < slots, "page %llu is read to byte %llu", ull(page), ull(offset));
    require_reserved(slot, page);
    for (const Read& other : reads) REQUIRE(other.slot != slot, "two reads into slot %u", slot);
    reads.push_back({number, static_cast<uint16_t>(dw[0] >> 16), page, slot, static_cast<uint32_t>(blocks * 16), false});
    fetches++;
  }

  // A failed read leaves other data in the slot.
  void complete(const Read& read, uint16_t drawn) {
    const uint16_t ended = status != 0 ? status : drawn;
    require_reserved(read.slot, read.page);
    auto* to = reinterpret_cast<uint64_t*>(shared.memory.data() + (uint64_t{read.slot} << kPageShift));
    for (uint32_t i = 0; i < read.bytes / 8; i++) to[i] = ended == 0 ? content(read.page * kInPage + i) : 0xdeaddeaddeaddead;
    failures += ended != 0;
    Controller& controller = shared.queues[read.queue]->controller;
    controller.post(controller.sqs[0].qid, read.cid, ended);
  }

  std::vector<Read> reads;
};

}  // namespace model
