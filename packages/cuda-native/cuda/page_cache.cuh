// Slots of a page cache that any number of GPU threads use concurrently. array.cuh uses them; gpunvme_array.h defines their
// words. No function here waits: callers poll with `seek` and `look`.
//
// - One atomic word per slot holds page, state and references. The operation that takes a reference returns the word. If the
//   slot no longer holds the page, the thread releases the reference; it has only delayed an eviction.
// - A thread assigns a page to a slot only while it holds the lock of the set, after a search of all slots of the set: no page
//   is in two slots. The lock is not held while the page is read.
// - A thread claims only a slot without references, by compare-and-swap of the word: no page is evicted while in use.
// - The thread that claimed a slot reads the page and publishes the outcome, success or not. Threads that need the page
//   meanwhile hold references to the slot, and read the outcome from there.
#pragma once

#include "gpunvme_array.h"
#include "shared_queue.cuh"

namespace gpunvme {

GPUNVME_DEVICE uint64_t page_in(uint64_t word) { return word >> GNV_PAGE_NUMBER_SHIFT; }
GPUNVME_DEVICE gnv_page_state state_in(uint64_t word) { return static_cast<gnv_page_state>(word >> GNV_PAGE_STATE_SHIFT & 7); }
GPUNVME_DEVICE uint32_t references_in(uint64_t word) { return static_cast<uint32_t>(word & GNV_PAGE_REFERENCES); }

// Returns the word of a slot that a thread has claimed for a page.
GPUNVME_DEVICE uint64_t claimed_for(uint64_t page) {
  return page << GNV_PAGE_NUMBER_SHIFT | GNV_PAGE_USED | static_cast<uint64_t>(GNV_PAGE_LOADING) << GNV_PAGE_STATE_SHIFT | 1;
}

// Returns whether a slot holds a page, or a thread is reading the page into it.
GPUNVME_DEVICE bool is_resident(uint64_t word, uint64_t page) {
  return page_in(word) == page && (state_in(word) == GNV_PAGE_LOADING || state_in(word) == GNV_PAGE_VALID);
}

// Returns the set of a page, by multiplicative hashing: consecutive pages, and pages at most strides, are spread evenly.
GPUNVME_DEVICE uint32_t set_of(const gnv_array& array, uint64_t page) {
  return static_cast<uint32_t>((page * 0x9e3779b97f4a7c15) >> 32 >> (32 - array.set_shift));
}

// A slot, and its word when it was found. The word 0 means that no slot was found.
struct Place {
  uint32_t slot;
  uint64_t word;
};

// Finds the slot in which a page is resident.
template <class Port>
GPUNVME_DEVICE Place find_page(const gnv_array& array, uint32_t first, uint64_t page) {
  constexpr uint32_t kBatch = 4;
  for (uint32_t way = 0; way < array.ways; way += kBatch) {
    // Independent loads overlap. Four words are one sector of the L2 cache.
    uint64_t words[kBatch];
    for (uint32_t i = 0; i < kBatch; i++) words[i] = way + i < array.ways ? Port::load_relaxed64(array.words + first + way + i) : 0;
    for (uint32_t i = 0; i < kBatch; i++)
      if (is_resident(words[i], page)) return {first + way + i, words[i]};
  }
  return {0, 0};
}

enum class Seek : uint32_t {
  // No reference: another thread changed the set, or all its slots are in use.
  NONE,
  // A reference to a valid page, whose data are visible.
  VALID,
  // A reference to a page that another thread is reading.
  LOADING,
  // A reference to a page that this thread must read and publish.
  CLAIMED,
};

struct Sought {
  Seek result;
  uint32_t slot;
};

// Releases a reference, with release order: the caller's loads come before any later use of the slot.
template <class Port>
GPUNVME_DEVICE void release_page(const gnv_array& array, uint32_t slot) {
  Port::add64_gpu(array.words + slot, ~0ULL);
}

// Takes a reference to the page that a slot held when it was found, unless the slot has changed.
template <class Port>
GPUNVME_DEVICE Sought share_page(const gnv_array& array, gnv_page_set& set, const Place& at, uint64_t page) {
  // Half of the maximum, since other threads can add references between this check and the addition.
  if (references_in(at.word) > GNV_PAGE_REFERENCES / 2) return {Seek::NONE, 0};
  uint64_t word = at.word;
  // Both acquire: the data of a valid page are visible. An addition cannot fail under contention; a compare-and-swap can.
  if ((at.word & GNV_PAGE_USED) != 0) {
    word = Port::add64_gpu(array.words + at.slot, 1);
  } else if (Port::cas64_gpu(array.words + at.slot, word, (word | GNV_PAGE_USED) + 1) != word) {
    return {Seek::NONE, 0};
  }
  if (!is_resident(word, page)) {
    release_page<Port>(array, at.slot);
    return {Seek::NONE, 0};
  }
  const bool is_valid = state_in(word) == GNV_PAGE_VALID;
  Port::count64_gpu(is_valid ? &set.hits : &set.coalesced);
  return {is_valid ? Seek::VALID : Seek::LOADING, at.slot};
}

// Claims a slot of a locked set. The clock passes each slot at most twice. On the first pass, it spares pages that were
// used since the pass before.
template <class Port>
GPUNVME_DEVICE Sought claim_slot(const gnv_array& array, gnv_page_set& set, uint32_t first, uint64_t page) {
  uint32_t hand = set.hand;
  Sought claimed = {Seek::NONE, 0};
  for (uint32_t steps = 2 * array.ways; steps > 0 && claimed.result == Seek::NONE; steps--) {
    const uint32_t slot = first + hand;
    hand = hand + 1 < array.ways ? hand + 1 : 0;
    const uint64_t word = Port::load_relaxed64(array.words + slot);
    const gnv_page_state state = state_in(word);
    if (references_in(word) != 0 || state == GNV_PAGE_QUARANTINED) continue;
    const bool is_spared = state == GNV_PAGE_VALID && (word & GNV_PAGE_USED) != 0;
    const uint64_t next = is_spared ? word & ~GNV_PAGE_USED : claimed_for(page);
    // Acquire: loads of threads that have released the page come before the controller's stores to the slot.
    if (Port::cas64_gpu(array.words + slot, word, next) != word || is_spared) continue;
    Port::count64_gpu(&set.misses);
    if (state == GNV_PAGE_VALID) Port::count64_gpu(&set.evictions);
    claimed = {Seek::CLAIMED, slot};
  }
  set.hand = hand;
  return claimed;
}

// Tries to take a reference to a page. Claims a slot for the page if it is not resident.
template <class Port>
GPUNVME_DEVICE Sought seek_page(const gnv_array& array, uint64_t page) {
  const uint32_t number = set_of(array, page), first = number * array.ways;
  gnv_page_set& set = array.sets[number];
  const Place seen = find_page<Port>(array, first, page);
  if (seen.word != 0) return share_page<Port>(array, set, seen, page);
  if (Port::load_relaxed32(&set.lock) != 0 || Port::exchange32_gpu(&set.lock, 1) != 0) return {Seek::NONE, 0};
  // Since the first search, another thread may have claimed a slot for the page.
  const Place again = find_page<Port>(array, first, page);
  const Sought sought = again.word != 0 ? share_page<Port>(array, set, again, page) : claim_slot<Port>(array, set, first, page);
  Port::store_release32_gpu(&set.lock, 0);
  return sought;
}

// Publishes the outcome of reading a claimed page, to threads that wait for it and to later ones. The caller keeps its reference.
template <class Port>
GPUNVME_DEVICE void publish_page(const gnv_array& array, uint32_t slot, uint64_t outcome) {
  const Ending ending = ending_of(outcome);
  const bool may_be_written = ending == Ending::TIMEOUT || ending == Ending::LOST;
  const gnv_page_state state = ending == Ending::SUCCESS ? GNV_PAGE_VALID : may_be_written ? GNV_PAGE_QUARANTINED : GNV_PAGE_FAILED;
  Port::store_relaxed64(array.outcomes + slot, outcome);
  // Release: threads that see the state see the outcome, and the data that this thread has acquired. An addition, since
  // other threads change the number of references concurrently.
  Port::add64_gpu(array.words + slot, static_cast<uint64_t>(state - GNV_PAGE_LOADING) << GNV_PAGE_STATE_SHIFT);
}

}  // namespace gpunvme
