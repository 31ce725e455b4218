// A gnv::Device over queues in plain memory, a model of a controller at the other end of each, and checks of all outcomes. For
// any team and port.
#pragma once

#include <memory>

#include "gpunvme.cuh"
#include "queue_rig.h"

namespace model {

using namespace gpunvme;

struct SharedLayout {
  uint32_t queues = 8;
  uint32_t entries = 16;
  uint32_t slots = 12;
  uint32_t commands = 64;
  // Positions at which the rings start: just before 2^32 to test the wrap-around. A multiple of `entries`.
  uint32_t start = 0;
  uint64_t timeout_ns = 1ULL << 62;
  // Each has its part of the queues.
  uint32_t drives = 1;
};

class SharedRig {
 public:
  static constexpr uint32_t kPage = 64, kBlockShift = 4, kMaxBlocks = 20, kRunShift = 12, kListPages = 2, kNsid = 7;
  // Of a command in the buffer.
  static constexpr uint64_t kRoom = 384;

  explicit SharedRig(const SharedLayout& from)
      : layout(from), memory(from.commands * kRoom), words(from.commands, 0), queues(from.queues), pairs(from.queues), drives(from.drives) {
    const uint64_t runs = (memory.size() + (1 << kRunShift) - 1) >> kRunShift;
    memory.resize(runs << kRunShift);
    // Descending, so that contiguous host memory is not contiguous for the controller.
    for (uint64_t run = 0; run < runs; run++) iovas.push_back(0x7f0000000000 + ((runs - run) << kRunShift));
    for (uint32_t index = 0; index < from.queues; index++) lay_out(index);
    const uint32_t count = from.queues / from.drives;
    for (uint32_t at = 0; at < from.drives; at++)
      drives[at] = {kFirst + from.commands + kMaxBlocks, kNsid, kBlockShift, kMaxBlocks, at * count, count, GNV_WRITABLE};
    device = {GNV_LAYOUT_VERSION, from.drives, drives.data(), pairs.data(), from.timeout_ns};
    buffer = {{iovas.data(), kRunShift}, memory.size(), memory.data()};
  }

  // Declares a command before it is submitted. Its SLBA is `kFirst + command`.
  void expect(uint32_t command, uint32_t opcode, uint32_t blocks) {
    for (auto& queue : queues) queue->controller.expected[command] = {0, opcode, kNsid, blocks, offset_of(command)};
    uint8_t* data = memory.data() + offset_of(command);
    for (uint64_t i = 0; i < uint64_t{blocks} << kBlockShift; i += 4) {
      const uint32_t word = opcode == GPUNVME_NVM_OPCODE_WRITE ? pattern(kFirst + command, i) : 0xa5a5a5a5;
      memcpy(data + i, &word, 4);
    }
  }
  void begin() {
    for (auto& queue : queues) queue->controller.known = layout.commands;
  }

  // Any multiple of 4, also inside a page.
  static uint64_t offset_of(uint32_t command) { return command * kRoom + command % 16 * 4; }

  // Called by the thread that waited, with the word of the outcome.
  void end(uint32_t command, gnv::Outcome outcome) {
    const Expected& expected = queues[0]->controller.expected[command];
    REQUIRE(words[command] == 0, "command %u has two outcomes", command);
    words[command] = static_cast<uint64_t>(outcome.ending()) << 32 | (outcome.status() + 1);
    if (!outcome.ok() || expected.opcode != GPUNVME_NVM_OPCODE_READ) return;
    const uint8_t* data = memory.data() + offset_of(command);
    for (uint64_t i = 0; i < uint64_t{expected.blocks} << kBlockShift; i += 4) {
      uint32_t word;
      memcpy(&word, data + i, 4);
      REQUIRE(word == pattern(kFirst + command, i), "command %u: byte %llu differs from the media", command, ull(i));
    }
  }

  // A port calls it before it stores to a doorbell.
  void rings(const uint32_t* at, uint32_t value) const {
    for (const auto& queue : queues) {
      const bool is_tail = at == &queue->tail_doorbell;
      if (!is_tail && at != &queue->head_doorbell) continue;
      REQUIRE(value < layout.entries && value != *at, "doorbell of queue %u: %u after %u", queue_id(*queue), value, *at);
      return;
    }
    REQUIRE(false, "a store to a register that is not a doorbell");
  }

  // One step of a controller: fetches, completes in any order, loses or duplicates. Returns false if it had nothing to do.
  struct Faults {
    uint32_t status_once_in = 0, duplicate_once_in = 0, foreign_once_in = 0;
    // Delays a completion; with a late_once_in of 0, for ever.
    uint32_t drop_once_in = 0, late_once_in = 0;
  };
  bool turn(Random& random, const Faults& faults) {
    QueueRig& queue = *queues[random.below(queues.size())];
    Controller& controller = queue.controller;
    if (controller.announced(controller.sqs[0]) > 0 && !random.once_in(4)) {
      controller.fetch(0);
      return true;
    }
    const auto strikes = [&](uint32_t times) { return times > 0 && random.once_in(times); };
    if (controller.outstanding.empty() || controller.room() == 0) return false;
    const size_t at = random.below(controller.outstanding.size());
    Controller::Outstanding& chosen = controller.outstanding[at];
    if (chosen.dropped && !strikes(faults.late_once_in)) return false;
    if (!chosen.dropped && strikes(faults.drop_once_in)) {
      chosen.dropped = true;
      return true;
    }
    const uint16_t cid = chosen.cid;
    // A slot that does not exist, or another queue.
    if (strikes(faults.foreign_once_in) && controller.room() > 1) {
      if (random.once_in(2)) controller.stray(queue_id(queue), 0xffff);
      else controller.stray(99, cid);
    }
    controller.complete(at, strikes(faults.status_once_in) ? 0x0281 : 0);
    if (strikes(faults.duplicate_once_in) && controller.room() > 0) controller.stray(queue_id(queue), cid);
    return true;
  }

  // Completes what the controllers have fetched, as far as their completion queues have room.
  void complete_all() {
    for (auto& queue : queues)
      while (!queue->controller.outstanding.empty() && queue->controller.room() > 0) queue->controller.complete(0);
  }

  // Judges all commands after the threads have ended. @returns number of commands by ending.
  std::vector<uint32_t> finish(bool may_halt) {
    std::vector<uint32_t> endings(8, 0);
    for (uint32_t command = 0; command < layout.commands; command++) {
      REQUIRE(words[command] != 0, "command %u has no outcome", command);
      const auto ending = static_cast<gnv_ending>(words[command] >> 32);
      const auto status = static_cast<uint32_t>(words[command]) - 1;
      endings[ending]++;
      uint32_t fetches = 0;
      bool completed = false;
      uint32_t given = 0;
      for (const auto& queue : queues) {
        const Expected& expected = queue->controller.expected[command];
        fetches += expected.fetches;
        if (!expected.completed) continue;
        completed = true;
        given = expected.status;
      }
      REQUIRE(fetches <= 1, "command %u was fetched %u times", command, fetches);
      if (ending == GNV_SUCCESS || ending == GNV_STATUS) {
        REQUIRE(completed && given == status, "command %u: status %x, the controller gave %x", command, status, given);
        continue;
      }
      REQUIRE(may_halt, "command %u ended with %u", command, ending);
      const bool was_submitted = ending == GNV_TIMEOUT || ending == GNV_LOST;
      REQUIRE(was_submitted || ending == GNV_HALTED || ending == GNV_BUSY, "command %u ended with %u", command, ending);
      REQUIRE(was_submitted || fetches == 0, "command %u was fetched, and ended as not submitted", command);
    }
    judge_queues(may_halt);
    return endings;
  }

  // Checks the queues after the threads have ended.
  void judge_queues(bool may_halt) {
    for (uint32_t index = 0; index < layout.queues; index++) judge(pairs[index], *queues[index], may_halt);
  }

  const SharedLayout layout;
  std::vector<uint8_t> memory;
  std::vector<uint64_t> iovas;
  // By command: ending, and status + 1.
  std::vector<uint64_t> words;
  std::vector<std::unique_ptr<QueueRig>> queues;
  std::vector<gnv_queue> pairs;
  std::vector<gnv_drive> drives;
  gnv_device device;
  gnv_buffer buffer;
  static constexpr uint64_t kFirst = 1000;

 private:
  static uint16_t queue_id(const QueueRig& queue) { return queue.controller.sqs[0].qid; }

  void lay_out(uint32_t index) {
    queues[index] = std::make_unique<QueueRig>(layout.commands);
    QueueRig& queue = *queues[index];
    QueueShape shape = {layout.entries, layout.slots, index + 1, kPage, kListPages, 1 << kBlockShift};
    shape.start = layout.start;
    queue.lay_out(pairs[index], shape);
    queue.controller.first_slba = kFirst;
    for (uint64_t run = 0; run < iovas.size(); run++)
      queue.controller.ranges.push_back({iovas[run], 1 << kRunShift, memory.data() + (run << kRunShift)});
  }

  void judge(const gnv_queue& pair, const QueueRig& queue, bool may_halt) {
    const Controller& controller = queue.controller;
    REQUIRE(pair.sq_tail == pair.sq_ticket, "queue %u: %u entries were not announced", pair.qid, pair.sq_ticket - pair.sq_tail);
    REQUIRE(pair.ring_requests == 0 && pair.cq_lock == 0, "queue %u: a lock is held", pair.qid);
    REQUIRE(may_halt || pair.state == GNV_RUNNING, "queue %u is halted", pair.qid);
    uint32_t kept = 0;
    for (const gnv_slot& slot : queue.slots) {
      REQUIRE((slot.outcome & GNV_TAKEN) != 0, "queue %u: an outcome was not taken", pair.qid);
      const auto ending = ending_of(slot.outcome);
      kept += ending == Ending::TIMEOUT || ending == Ending::LOST;
    }
    REQUIRE(kept == 0 || pair.state != GNV_RUNNING, "queue %u runs after a time-out", pair.qid);
    REQUIRE(pair.free_count + kept == layout.slots, "queue %u: %u of %u slots are free", pair.qid, pair.free_count, layout.slots);
    REQUIRE(pair.free_tail - pair.free_head == pair.free_count, "queue %u: %u slots in the ring, count %u", pair.qid, pair.free_tail - pair.free_head, pair.free_count);
    const uint64_t consumed = pair.cq_head;
    REQUIRE(may_halt || consumed == controller.posted, "queue %u: consumed %llu of %llu", pair.qid, ull(consumed), ull(controller.posted));
    REQUIRE(pair.stale <= controller.strays + kept, "queue %u: %u stale completions", pair.qid, pair.stale);
    REQUIRE(may_halt || pair.stale == controller.strays, "queue %u: %u stale, %llu strays", pair.qid, pair.stale, ull(controller.strays));
    REQUIRE(may_halt || pair.sq_ticket - layout.start == pair.cq_head - pair.stale, "queue %u: commands and consumed completions differ", pair.qid);
  }
};

}  // namespace model
