// The queue protocol of BaM, re-created for comparison with gnv::Device. For gpu-check only: it cannot recover from a time-out.
//
// Sources: Qureshi et al., "GPU-Initiated On-Demand High-Throughput Storage Access in the BaM System Architecture", ASPLOS 2023;
// for the order of steps, include/nvm_parallel_queue.h of github.com/ZaidQureshi/bam at d600085.
//
// Each thread acts alone. It takes the next free identifier from a table, and a ticket. A ticket is an SQ position: a place, and
// the lap in which to use it. The thread waits for its turn at the place, writes the entry, and marks the place. The thread that
// obtains the tail lock rings the doorbell for all marked places. Then each thread searches the CQ for its identifier, starting
// at the head, and marks the entry that it finds. The thread that obtains the head lock releases all marked entries, and frees
// the places that the controller has fetched by then.
//
// Differences:
// - Every wait has a time limit, and a time-out halts the queue. The original polls without end.
// - A mark is the position + 1, and a turn is a number of laps. Threads compare them with positions, where the original clears
//   marks with atomic exchanges, counts two steps per lap, and locks completion entries.
// - Waiting threads back off as in gnv::Device.
// - A system-scope fence precedes each tail doorbell write, as in gnv::Device. Controllers other than a kernel need it.
// - There are as many identifiers as slots in a gnv_queue, since slots own the PRP lists. The original has 65536.
#pragma once

#include "gpunvme.cuh"

namespace gpunvme {

// Words of a queue, initially 0. Four arrays of `entries` words follow (see TicketQueue).
struct alignas(128) TicketWords {
  alignas(128) uint32_t next_ticket;
  alignas(128) uint32_t next_identifier;
  // Positions before `tail` are announced.
  alignas(128) uint32_t tail_lock;
  uint32_t tail;
  // CQ positions before `cq_head` are released; SQ positions before `sq_head` are fetched.
  alignas(128) uint32_t head_lock;
  uint32_t cq_head;
  uint32_t sq_head;
  // 1: a command has timed out.
  alignas(128) uint32_t is_halted;
};
static_assert(sizeof(TicketWords) == 640, "allocated by the host");

// A thread's view of a queue. It uses only the constant words of `queue`.
template <class Port>
class TicketQueue {
 public:
  // `words` points to the words of all queues.
  GPUNVME_DEVICE TicketQueue(const gnv_queue& queue, uint8_t* words, uint32_t index, uint64_t timeout_ns)
      : queue_(queue),
        mask_(queue.entries - 1),
        words_(*reinterpret_cast<TicketWords*>(words + index * (sizeof(TicketWords) + 16ULL * queue.entries))),
        turns_(reinterpret_cast<uint32_t*>(&words_ + 1)),
        written_(turns_ + queue.entries),
        consumed_(written_ + queue.entries),
        identifiers_(consumed_ + queue.entries),
        timeout_ns_(timeout_ns) {}

  // Submits a command, and returns its outcome as in gpunvme_device.h: success, status, time-out or halted.
  GPUNVME_DEVICE uint64_t run(const Submission& submission) {
    if (Port::load_relaxed32(&words_.is_halted) != 0) return refusal(GNV_HALTED);
    end_ns_ = Port::now_ns() + timeout_ns_;
    uint32_t cid = 0, status = 0;
    if (take_identifier(cid) && submit(submission, cid) && complete(cid, status)) {
      Port::store_release32_gpu(&identifiers_[cid], 0);
      return outcome_of(status == 0 ? Ending::SUCCESS : Ending::STATUS, cid, status);
    }
    // The identifier stays taken, since the controller may still use the memory of the command.
    Port::store_release32_gpu(&words_.is_halted, 1);
    return refusal(GNV_TIMEOUT);
  }

 private:
  // Polls `test` until it returns true. Returns false at the time limit of the command.
  template <class Test>
  GPUNVME_DEVICE bool wait_until(const Test& test) const {
    for (uint32_t polls = 0; !test(); polls++) {
      if (Port::now_ns() >= end_ns_) return false;
      Port::relax(polls);
    }
    return true;
  }
  static GPUNVME_DEVICE bool is_before(uint32_t position, const uint32_t& end) {
    return static_cast<int32_t>(Port::load_relaxed32(&end) - position) > 0;
  }
  static GPUNVME_DEVICE bool try_lock(uint32_t& lock) {
    return Port::load_relaxed32(&lock) == 0 && Port::exchange32_gpu(&lock, 1) == 0;
  }
  static GPUNVME_DEVICE void unlock(uint32_t& lock) { Port::store_release32_gpu(&lock, 0); }

  GPUNVME_DEVICE bool take_identifier(uint32_t& cid) {
    return wait_until([&] {
      cid = Port::add32_relaxed_gpu(&words_.next_identifier, 1) % queue_.slot_count;
      return Port::exchange32_gpu(&identifiers_[cid], 1) == 0;
    });
  }

  // Writes an entry, and waits until it is announced.
  GPUNVME_DEVICE bool submit(const Submission& from, uint32_t cid) {
    const uint32_t ticket = Port::add32_relaxed_gpu(&words_.next_ticket, 1);
    const uint32_t place = ticket & mask_, lap = ticket >> count_bits(mask_);
    if (!wait_until([&] { return Port::load_acquire32_gpu(&turns_[place]) == lap; })) return false;
    const Prps prps = lay_prps<Port>(queue_, from.memory, from.offset, from.bytes, cid);
    store_entry<Port>(static_cast<Quad*>(queue_.sq) + 4 * place,
                      {from.opcode, cid, from.nsid, prps, from.slba, from.blocks});
    Port::store_release32_gpu(&written_[place], ticket + 1);
    return wait_until([&] {
      if (!is_before(ticket, words_.tail)) advance_tail();
      return is_before(ticket, words_.tail);
    });
  }

  // Announces the marked places, unless another thread is doing so.
  GPUNVME_DEVICE void advance_tail() {
    if (!try_lock(words_.tail_lock)) return;
    const uint32_t first = Port::load_relaxed32(&words_.tail), fetched = Port::load_relaxed32(&words_.sq_head);
    uint32_t tail = first;
    // One entry stays free: a full queue is one whose tail is before its head (Base 2.1 §3.3.1.5).
    while (tail - fetched < mask_ && Port::load_acquire32_gpu(&written_[tail & mask_]) == tail + 1) tail++;
    if (tail != first) {
      Port::fence();
      Port::mmio_store32(queue_.tail_doorbell, tail & mask_);
      Port::add32_relaxed_gpu(&words_.tail, tail - first);
    }
    unlock(words_.tail_lock);
  }

  // Waits for the completion and its release. After that, no search finds it again, and its identifier can be reused.
  GPUNVME_DEVICE bool complete(uint32_t cid, uint32_t& status) {
    uint32_t position = 0;
    if (!wait_until([&] { return find(cid, position, status); })) return false;
    Port::fence_acquire();
    // If the head advanced by whole laps during the search, the position is that many laps later.
    const uint32_t head = Port::load_relaxed32(&words_.cq_head);
    position = head + ((position - head) & (2 * queue_.entries - 1));
    Port::store_release32_gpu(&consumed_[position & mask_], position + 1);
    return wait_until([&] {
      if (!is_before(position, words_.cq_head)) advance_head();
      return is_before(position, words_.cq_head);
    });
  }

  // Searches the new completions for an identifier.
  GPUNVME_DEVICE bool find(uint32_t cid, uint32_t& position, uint32_t& status) const {
    const uint32_t head = Port::load_relaxed32(&words_.cq_head);
    for (uint32_t index = 0; index < mask_; index++) {
      const uint32_t at = head + index;
      const uint64_t dw2_3 = Port::load_completion64(queue_.cq + 2 * (at & mask_) + 1);
      if ((dw2_3 >> 48 & GPUNVME_CQE_STATUS_P_MASK) != ((at & queue_.entries) == 0 ? 1 : 0)) return false;
      if ((dw2_3 >> 32 & 0xffff) != cid) continue;
      position = at;
      status = static_cast<uint32_t>(dw2_3 >> 49);
      return true;
    }
    return false;
  }

  // Releases the marked completions, and frees the places up to the SQ Head Pointer of the last one, unless another thread is
  // doing so.
  GPUNVME_DEVICE void advance_head() {
    if (!try_lock(words_.head_lock)) return;
    const uint32_t first = Port::load_relaxed32(&words_.cq_head);
    uint32_t head = first;
    while (Port::load_acquire32_gpu(&consumed_[head & mask_]) == head + 1) head++;
    if (head != first) {
      const uint64_t last = Port::load_completion64(queue_.cq + 2 * ((head - 1) & mask_) + 1);
      // Orders the controller's fetch, which the completion reports, before the next use of a place.
      Port::fence_acquire();
      const uint32_t fetched = Port::load_relaxed32(&words_.sq_head);
      const uint32_t freed = (static_cast<uint32_t>(last) - fetched) & mask_;
      for (uint32_t i = 0; i < freed; i++) Port::add32_relaxed_gpu(&turns_[(fetched + i) & mask_], 1);
      Port::add32_relaxed_gpu(&words_.sq_head, freed);
      Port::mmio_store32(queue_.head_doorbell, head & mask_);
      Port::add32_relaxed_gpu(&words_.cq_head, head - first);
    }
    unlock(words_.head_lock);
  }

  const gnv_queue& queue_;
  const uint32_t mask_;
  TicketWords& words_;
  // By place: number of times it was freed; position + 1 of the last SQ entry written, and of the last CQ entry consumed.
  uint32_t* const turns_;
  uint32_t* const written_;
  uint32_t* const consumed_;
  // 1: in use.
  uint32_t* const identifiers_;
  const uint64_t timeout_ns_;
  uint64_t end_ns_ = 0;
};

}  // namespace gpunvme
