// A leader with its queue in plain memory, a model of the controller, and a host that posts plans and checks their outcomes.
// For any team and port.
#pragma once

#include <algorithm>
#include <memory>

#include "queue_rig.h"
#include "serve.cuh"

namespace model {

using namespace gpunvme;

struct Layout {
  uint32_t entries = 8;
  uint32_t slots = 4;
  uint32_t block_bytes = 16;
  uint32_t list_pages = 3;
  uint32_t run_shift = 7;
  uint32_t memory_bytes = 1 << 17;
  uint32_t last_generation = 0;
  // Position at which the rings start.
  uint32_t start = 0;
  uint64_t linger_ns = 0;
};

constexpr uint64_t kPoison = 0xeeeeeeeeeeeeeeee;
constexpr uint32_t kNsid = 7, kQid = 3;

// The commands of a plan for this queue.
struct Plan {
  // Number of its share.
  uint32_t number;
  // Index of its first command among those of all plans.
  uint32_t first;
  uint64_t timeout_ns;
  std::vector<Command> commands;
  // Outcomes between two guard words, which must not change.
  std::vector<uint64_t> words;
  bool cancelled = false;
  bool done = false;
  // Copies of the outcomes when the share was done, in the order of the commands.
  std::vector<uint64_t> outcomes;

  Ending ending(size_t command) const { return static_cast<Ending>(outcomes[command] >> OUTCOME_ENDING_SHIFT); }
  uint32_t status(size_t command) const { return outcomes[command] & 0xffff; }
  uint32_t cid(size_t command) const { return outcomes[command] >> OUTCOME_CID_SHIFT & 0xffff; }
};

class Rig {
 public:
  explicit Rig(const Layout& from) : layout(from), memory(from.memory_bytes), queue(2048), tasks(from.slots) {
    const uint64_t run_bytes = 1ULL << layout.run_shift;
    const uint64_t runs = layout.memory_bytes / run_bytes;
    for (uint64_t run = 0; run < runs; run++) {
      // Descending, so that contiguous host memory is not contiguous for the controller.
      iovas.push_back(0x7f0000000000 + (runs - run) * run_bytes);
      controller.ranges.push_back({iovas.back(), run_bytes, memory.data() + run * run_bytes});
    }
    memset(memory.data(), 0xa5, memory.size());
    leader = {};
    QueueShape shape = {layout.entries, layout.slots, kQid, kPage, layout.list_pages, layout.block_bytes};
    shape.start = layout.start;
    shape.last_generation = layout.last_generation;
    queue.lay_out(leader.queue, shape);
    leader.shares = shares.data();
    leader.control = &control;
    leader.report = &report;
    leader.active = active.data();
    leader.tasks = tasks.data();
    leader.clock = &clock;
    leader.grid = &grid;
    leader.linger_ns = layout.linger_ns;
    leader.next_deadline_ns = NO_DEADLINE;
  }

  // Whether the ring has room for another share.
  bool has_room() {
    while (oldest != posted && load(&shares[oldest % SHARES].done) != 0) oldest++;
    return posted - oldest < SHARES;
  }

  // Posts a plan with a command for each element of `blocks`, and leaves `shift` bytes between the data of commands. Returns its
  // index in `plans`.
  size_t post(uint32_t opcode, const std::vector<uint32_t>& blocks, uint64_t timeout_ns = 1000, uint32_t shift = 0) {
    REQUIRE(has_room(), "the test posts more shares than there is room for");
    const auto count = static_cast<uint32_t>(blocks.size());
    auto plan = std::make_unique<Plan>();
    *plan = {posted++, controller.known, timeout_ns, {}, {}, false, false, {}};
    plan->words.assign(count + 2, 0);
    plan->words.front() = plan->words.back() = kPoison;
    for (uint32_t i = 0; i < count; i++) {
      const uint32_t bytes = blocks[i] * layout.block_bytes;
      REQUIRE(used + bytes + kPage <= memory.size(), "the test has no more memory for data");
      const uint64_t slba = blocks[i] == 0 ? 0 : controller.first_slba + controller.known;
      // The order of outcomes differs from that of commands.
      plan->commands.push_back({slba, used, blocks[i], (i + 1) % count});
      REQUIRE(controller.known < controller.expected.size(), "the test posts more commands than there is room for");
      controller.expected[controller.known] = {0, opcode, kNsid, blocks[i], used};
      __atomic_store_n(&controller.known, controller.known + 1, __ATOMIC_RELEASE);
      if (opcode == GPUNVME_NVM_OPCODE_WRITE) {
        for (uint32_t at = 0; at < bytes; at += 4) {
          const uint32_t word = pattern(slba, at);
          memcpy(memory.data() + used + at, &word, 4);
        }
      }
      used += bytes + shift;
    }
    Share& share = shares[plan->number % SHARES];
    share.commands = plan->commands.data();
    share.outcomes = plan->words.data() + 1;
    share.memory = {iovas.data(), layout.run_shift};
    share.timeout_ns = timeout_ns;
    share.count = count;
    share.nsid = kNsid;
    share.block_bytes = layout.block_bytes;
    share.opcode = opcode;
    share.cancelled = 0;
    share.done = 0;
    store_control((control & ~CONTROL_POSTED) | posted);
    plans.push_back(std::move(plan));
    return plans.size() - 1;
  }

  void store_control(uint64_t value) { __atomic_store_n(&control, value, __ATOMIC_RELEASE); }
  void flag(uint64_t flags) { store_control(control | flags); }
  void unflag(uint64_t flags) { store_control(control & ~flags); }

  void cancel(size_t at) {
    Plan& plan = *plans[at];
    if (plan.done) return;
    // The share is done and not yet checked; its place in the ring may have been reused.
    if (static_cast<int32_t>(plan.number - oldest) < 0) return;
    if (load(&shares[plan.number % SHARES].done) != 0) return;
    plan.cancelled = true;
    __atomic_store_n(&shares[plan.number % SHARES].cancelled, 1, __ATOMIC_RELEASE);
    store_control((control & ~CONTROL_CANCELS) | ((control + CONTROL_CANCEL) & CONTROL_CANCELS));
  }

  bool has_ended() const { return load(&report.ended) == launches; }
  bool has_work() const {
    for (const auto& plan : plans)
      if (!plan->done) return true;
    return false;
  }

  // Checks the shares that are done. Returns whether all are.
  bool look() {
    bool all = true;
    for (auto& plan : plans) {
      if (plan->done) continue;
      if (load(&shares[plan->number % SHARES].done) == 0) {
        all = false;
        continue;
      }
      has_room();
      check_outcomes(*plan);
    }
    return all;
  }

  // Checks after a launch.
  void ended() const {
    REQUIRE(report.in_flight == leader.in_flight, "the report has another number of commands in flight than the leader");
    REQUIRE(leader.queue.cq_released == leader.queue.cq_head, "completions were consumed and not released");
  }

  // Checks a doorbell write as a controller may (Base 2.1, "Invalid Doorbell Write Value").
  void rung(const uint32_t* at, uint32_t value) {
    doorbell_writes++;
    const uint32_t entries = layout.entries;
    REQUIRE(*at != value, "doorbell write of %u, its previous value", value);
    REQUIRE(value < entries, "doorbell %u of %u entries", value, entries);
    if (at == &queue.tail_doorbell) {
      const uint32_t in_use = (*at + entries - controller.sqs[0].head) % entries + (value + entries - *at) % entries;
      REQUIRE(in_use < entries, "SQ: %u entries at once in a ring of %u", in_use, entries);
      return;
    }
    REQUIRE(at == &queue.head_doorbell, "a store to a register that is not a doorbell of this queue");
    const uint32_t released = (value + entries - *at) % entries;
    const uint32_t available = (controller.cq_tail + entries - *at) % entries;
    REQUIRE(released <= available, "CQ: head doorbell %u is beyond the tail, %u", value, controller.cq_tail);
  }

  // Final checks, after the leader has ended, with no command outstanding.
  void finish() {
    const uint32_t head = leader.queue.cq_head & (layout.entries - 1);
    REQUIRE(head == controller.cq_tail && queue.head_doorbell == head, "CQ: head %u, doorbell %u, tail %u", head,
            queue.head_doorbell, controller.cq_tail);
    uint64_t fetched = 0, late = 0, kept = 0;
    for (const Expected& expected : controller.expected) fetched += expected.fetches;
    for (const auto& plan : plans) {
      REQUIRE(plan->done, "share %u is not done", plan->number);
      for (const uint64_t word : plan->words)
        REQUIRE(word == kPoison, "share %u: an outcome changed after the share was done", plan->number);
      for (size_t i = 0; i < plan->commands.size(); i++) {
        const bool is_kept = plan->ending(i) >= Ending::TIMEOUT;
        kept += is_kept;
        late += is_kept && controller.expected[plan->first + i].completed;
      }
    }
    fetched -= unsubmitted;
    REQUIRE(report.commands == fetched, "%llu commands counted, %llu fetched", ull(report.commands), ull(fetched));
    REQUIRE(report.doorbell_writes == doorbell_writes || doorbell_writes == 0, "%llu doorbells counted, %llu rung",
            ull(report.doorbell_writes), ull(doorbell_writes));
    REQUIRE(report.stale == controller.strays + late, "%llu stale completions counted; %llu strays and %llu late",
            ull(report.stale), ull(controller.strays), ull(late));
    REQUIRE(report.progress == plans.size(), "%llu shares counted of %zu", ull(report.progress), plans.size());
    const gnv_queue& of = leader.queue;
    REQUIRE(of.free_count + kept == of.slot_count, "%u slots free of %u, %llu quarantined", of.free_count, of.slot_count, ull(kept));
    REQUIRE(of.free_tail - of.free_head == of.free_count, "%u slots in the ring, count %u", of.free_tail - of.free_head, of.free_count);
    REQUIRE(of.sq_tail == of.sq_ticket, "%u entries were not announced", of.sq_ticket - of.sq_tail);
    for (uint64_t at = used; at < memory.size(); at++) REQUIRE(memory[at] == 0xa5, "a byte outside the data of commands changed");
  }

  static constexpr uint32_t kPage = 64;

  Layout layout;
  std::vector<uint8_t> memory;
  std::vector<uint64_t> iovas;
  QueueRig queue;
  Controller& controller = queue.controller;
  std::vector<Share> shares{SHARES};
  std::vector<Active> active{SHARES};
  std::vector<Task> tasks;
  std::vector<std::unique_ptr<Plan>> plans;
  Grid grid{1, 0};
  Leader leader;
  Report report{};
  uint64_t control = 0;
  uint32_t posted = 0;
  uint32_t oldest = 0;
  uint64_t clock = 0;
  uint64_t launches = 0;
  uint64_t doorbell_writes = 0;
  // Commands that ended without having been submitted.
  uint64_t unsubmitted = 0;
  // Bytes of memory that have been given to commands.
  uint64_t used = 0;
  // Allowed outcomes: not submitted, time-out, lost.
  bool may_halt = false;
  bool may_time_out = false;
  bool may_be_lost = false;

 private:
  void check_outcomes(Plan& plan) {
    plan.done = true;
    REQUIRE(plan.words.front() == kPoison && plan.words.back() == kPoison, "a guard word beside the outcomes changed");
    for (size_t i = 0; i < plan.commands.size(); i++) {
      const Command& command = plan.commands[i];
      plan.outcomes.push_back(plan.words[1 + command.index]);
      Expected& expected = controller.expected[plan.first + i];
      const uint64_t slba = controller.first_slba + plan.first + i;
      const uint64_t word = plan.outcomes.back();
      const auto check = [&](bool right, const char* what) {
        REQUIRE(right, "SLBA %llu, of share %u, has outcome 0x%llx: %s (it was %s, with CID 0x%x and status 0x%x)",
                ull(slba), plan.number, ull(word), what,
                expected.completed ? "completed" : expected.fetches > 0 ? "fetched" : "not fetched", expected.cid, expected.status);
      };
      if (word == 0) {
        check(plan.cancelled || may_halt, "it should have been submitted");
        check(expected.fetches == 0, "it was submitted");
        // A later fetch is then rejected as the second one.
        expected.fetches++;
        unsubmitted++;
        continue;
      }
      if (expected.fetches > 0) check(plan.cid(i) == expected.cid, "the CID of another command");
      switch (plan.ending(i)) {
        case Ending::SUCCESS:
          check(expected.completed && expected.status == 0 && plan.status(i) == 0, "the controller posted no such completion");
          for (uint32_t at = 0; at < command.blocks * layout.block_bytes; at += 4) {
            uint32_t data;
            memcpy(&data, memory.data() + command.offset + at, 4);
            check(data == pattern(slba, at), "wrong data");
          }
          break;
        case Ending::STATUS:
          check(expected.completed && expected.status != 0 && plan.status(i) == expected.status,
                "the controller posted no such completion");
          break;
        case Ending::TIMEOUT:
          check(may_time_out && load(&clock) >= plan.timeout_ns && plan.status(i) == 0, "its time limit has not passed");
          check(load(&report.halted) != 0, "its share is done, but the leader is not reported as halted");
          break;
        case Ending::LOST: check(may_be_lost && plan.status(i) == 0, "the controller is not lost"); break;
        default: check(false, "invalid ending");
      }
    }
    // From now on, the host reuses this memory.
    std::fill(plan.words.begin(), plan.words.end(), kPoison);
    memset(static_cast<void*>(plan.commands.data()), 0xee, plan.commands.size() * sizeof(Command));
  }
};

}  // namespace model
