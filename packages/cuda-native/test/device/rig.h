// A leader with its queues in plain memory, laid out as native/engine/session.cc does, the model of a controller at the
// other end, and the host that posts plans and judges their outcomes. For any port.
#pragma once

#include <algorithm>
#include <memory>

#include "model_controller.h"
#include "serve.cuh"

namespace model {

using namespace gpunvme;

struct Layout {
  uint32_t pairs = 1;
  uint32_t sq_entries = 8;
  uint32_t slots = 4;
  uint32_t cq_entries = 8;
  // So small that lists of several pages are short.
  uint32_t page_bytes = 64;
  uint32_t block_bytes = 16;
  uint32_t list_pages = 3;
  uint32_t run_shift = 7;
  uint32_t memory_bytes = 1 << 17;
  uint32_t first_generation = 0;
  uint64_t linger_ns = 0;
};

constexpr uint64_t kPoison = 0xeeeeeeeeeeeeeeee;
constexpr uint32_t kNsid = 7;

// What one plan has for one queue.
struct Plan {
  uint32_t pair;
  // Of the share.
  uint32_t number;
  // Of its first command, among all.
  uint32_t first;
  uint64_t timeout_ns;
  std::vector<Command> commands;
  // With one word before and one behind that nobody shall touch.
  std::vector<uint64_t> words;
  bool cancelled = false;
  bool done = false;
  // The outcomes, as they were when it was done; by command.
  std::vector<uint64_t> outcomes;

  Ending ending(size_t command) const { return static_cast<Ending>(outcomes[command] >> OUTCOME_ENDING_SHIFT); }
  uint32_t status(size_t command) const { return outcomes[command] & 0xffff; }
  uint32_t cid(size_t command) const { return outcomes[command] >> OUTCOME_CID_SHIFT & 0xffff; }
};

class Rig {
 public:
  struct Queue {
    std::vector<Quad> sq;
    std::vector<uint64_t> lists, list_iovas;
    std::vector<Slot> slots;
    std::vector<uint32_t> ring;
    std::vector<Share> shares{SHARES};
    std::vector<Active> active{SHARES};
    uint64_t control = 0;
    uint32_t tail_doorbell = 0;
    uint32_t posted = 0;
    uint32_t oldest = 0;
  };

  explicit Rig(const Layout& from) : layout(from), memory(from.memory_bytes), cq(2 * from.cq_entries, 0) {
    const uint64_t run_bytes = 1ULL << layout.run_shift;
    const uint64_t runs = layout.memory_bytes / run_bytes;
    for (uint64_t run = 0; run < runs; run++) {
      // From behind: what is together for the host is not for the controller.
      iovas.push_back(0x7f0000000000 + (runs - run) * run_bytes);
      controller.ranges.push_back({iovas.back(), run_bytes, memory.data() + run * run_bytes});
    }
    memset(memory.data(), 0xa5, memory.size());
    while ((1u << slot_bits) <= layout.slots) slot_bits++;
    controller.page_bytes = layout.page_bytes;
    controller.block_bytes = layout.block_bytes;
    controller.cq = cq.data();
    controller.cq_entries = layout.cq_entries;
    controller.head_doorbell = &head_doorbell;
    pairs.resize(layout.pairs);
    leader = {};
    leader.grid = &grid;
    leader.cq = cq.data();
    leader.head_doorbell = &head_doorbell;
    leader.pairs = pairs.data();
    leader.report = &report;
    leader.clock = &clock;
    leader.linger_ns = layout.linger_ns;
    leader.pair_count = layout.pairs;
    leader.cq_entries = layout.cq_entries;
    leader.phase = 1;
    leader.next_deadline_ns = NO_DEADLINE;
    for (uint32_t index = 0; index < layout.pairs; index++) lay_out(index);
  }

  // Whether a plan may be posted to a queue.
  bool has_room(uint32_t pair) {
    Queue& queue = *queues[pair];
    while (queue.oldest != queue.posted && load(&queue.shares[queue.oldest % SHARES].done) != 0) queue.oldest++;
    return queue.posted - queue.oldest < SHARES;
  }

  // Commands of so many blocks each. Its place among the plans.
  size_t post(uint32_t pair, uint32_t opcode, const std::vector<uint32_t>& blocks, uint64_t timeout_ns = 1000,
              uint32_t shift = 0) {
    REQUIRE(has_room(pair), "the test posts more shares than there is room for");
    Queue& queue = *queues[pair];
    const auto count = static_cast<uint32_t>(blocks.size());
    auto plan = std::make_unique<Plan>();
    *plan = {pair, queue.posted++, controller.known, timeout_ns, {}, {}, false, false, {}};
    plan->words.assign(count + 2, 0);
    plan->words.front() = plan->words.back() = kPoison;
    for (uint32_t i = 0; i < count; i++) {
      const uint32_t bytes = blocks[i] * layout.block_bytes;
      REQUIRE(used + bytes + layout.page_bytes <= memory.size(), "the test has no more memory for data");
      const uint64_t slba = blocks[i] == 0 ? 0 : controller.first_slba + controller.known;
      // In an order of outcomes that is not the order of commands.
      plan->commands.push_back({slba, used, blocks[i], (i + 1) % count});
      REQUIRE(controller.known < controller.expected.size(), "the test posts more commands than there is room for");
      controller.expected[controller.known] = {pair, opcode, kNsid, blocks[i], used};
      __atomic_store_n(&controller.known, controller.known + 1, __ATOMIC_RELEASE);
      if (opcode == GPUNVME_NVM_OPCODE_WRITE) {
        for (uint32_t at = 0; at < bytes; at += 4) {
          const uint32_t word = pattern(slba, at);
          memcpy(memory.data() + used + at, &word, 4);
        }
      }
      used += bytes + shift;
    }
    Share& share = queue.shares[plan->number % SHARES];
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
    say(pair, (queue.control & ~CONTROL_POSTED) | queue.posted);
    plans.push_back(std::move(plan));
    return plans.size() - 1;
  }

  void say(uint32_t pair, uint64_t control) { __atomic_store_n(&queues[pair]->control, control, __ATOMIC_RELEASE); }
  void flag(uint64_t flags) {
    for (uint32_t pair = 0; pair < layout.pairs; pair++) say(pair, queues[pair]->control | flags);
  }

  void unflag(uint64_t flags) {
    for (uint32_t pair = 0; pair < layout.pairs; pair++) say(pair, queues[pair]->control & ~flags);
  }

  void cancel(size_t at) {
    Plan& plan = *plans[at];
    if (plan.done) return;
    Queue& queue = *queues[plan.pair];
    // Its place in the ring is another's when it is done and has not been looked at.
    if (static_cast<int32_t>(plan.number - queue.oldest) < 0) return;
    if (load(&queue.shares[plan.number % SHARES].done) != 0) return;
    plan.cancelled = true;
    __atomic_store_n(&queue.shares[plan.number % SHARES].cancelled, 1, __ATOMIC_RELEASE);
    say(plan.pair, (queue.control & ~CONTROL_CANCELS) | ((queue.control + CONTROL_CANCEL) & CONTROL_CANCELS));
  }

  bool has_ended() const { return load(&report.ended) == launches; }
  bool has_work() const {
    for (const auto& plan : plans)
      if (!plan->done) return true;
    return false;
  }

  // Judges what is done by now. True where that is all.
  bool look() {
    bool all = true;
    for (auto& plan : plans) {
      if (plan->done) continue;
      if (load(&queues[plan->pair]->shares[plan->number % SHARES].done) == 0) {
        all = false;
        continue;
      }
      has_room(plan->pair);
      judge(*plan);
    }
    return all;
  }

  // A launch of the leader, by whoever runs it: to its end.
  template <class Port>
  void serve_once() {
    serve<Port>(leader, launches);
    for (const Pair& pair : pairs)
      REQUIRE(pair.in_flight == 0 || leader.draining, "SQ %u: the leader ended with %u commands in flight", pair.qid,
              pair.in_flight);
    REQUIRE(report.in_flight == in_flight_of(leader), "the report does not have the commands in flight");
  }

  // What a controller must be able to rely on whenever a doorbell is rung (Base 2.1, "Invalid Doorbell Write Value").
  void rung(const uint32_t* at, uint32_t value) {
    doorbell_writes++;
    REQUIRE(*at != value, "a doorbell is rung with %u, its value before", value);
    for (const Controller::Sq& sq : controller.sqs) {
      if (at != sq.tail_doorbell) continue;
      REQUIRE(value < sq.entries, "SQ %u: tail doorbell %u of %u entries", sq.qid, value, sq.entries);
      const uint32_t used = (*at + sq.entries - sq.head) % sq.entries + (value + sq.entries - *at) % sq.entries;
      REQUIRE(used < sq.entries, "SQ %u: %u entries at once in a ring of %u", sq.qid, used, sq.entries);
      return;
    }
    REQUIRE(at == &head_doorbell, "a store to a register that is no doorbell of these queues");
    const uint32_t released = (value + layout.cq_entries - *at) % layout.cq_entries;
    const uint32_t there = (controller.cq_tail + layout.cq_entries - *at) % layout.cq_entries;
    REQUIRE(released <= there, "CQ: head doorbell %u is beyond the tail, %u", value, controller.cq_tail);
  }

  // Checks at the end: the leader has ended, and nothing is outstanding.
  void finish() {
    REQUIRE(leader.cq_head == controller.cq_tail && head_doorbell == leader.cq_head, "CQ: head %u, doorbell %u, tail %u",
            leader.cq_head, head_doorbell, controller.cq_tail);
    uint64_t fetched = 0, late = 0;
    for (const Expected& expected : controller.expected) fetched += expected.fetches;
    for (const auto& plan : plans) {
      REQUIRE(plan->done, "share %u of queue %u is not done", plan->number, plan->pair);
      for (const uint64_t word : plan->words)
        REQUIRE(word == kPoison, "share %u of queue %u: an outcome changed after it was done", plan->number, plan->pair);
      for (size_t i = 0; i < plan->commands.size(); i++)
        late += plan->ending(i) >= Ending::TIMEOUT && controller.expected[plan->first + i].completed;
    }
    fetched -= unsubmitted;
    REQUIRE(report.commands == fetched, "%llu commands counted, %llu fetched", ull(report.commands), ull(fetched));
    REQUIRE(report.doorbell_writes == doorbell_writes || doorbell_writes == 0, "%llu doorbells counted, %llu rung",
            ull(report.doorbell_writes), ull(doorbell_writes));
    REQUIRE(report.stale == controller.strays + late, "%llu stale completions counted; %llu strays and %llu late",
            ull(report.stale), ull(controller.strays), ull(late));
    REQUIRE(report.progress == plans.size(), "%llu shares counted of %zu", ull(report.progress), plans.size());
    if (controller.outstanding.empty())
      for (const Pair& pair : pairs)
        REQUIRE(pair.free_count == pair.slot_count, "SQ %u: %u slots free of %u", pair.qid, pair.free_count, pair.slot_count);
    for (uint64_t at = used; at < memory.size(); at++) REQUIRE(memory[at] == 0xa5, "data where none belongs");
  }

  Layout layout;
  std::vector<uint8_t> memory;
  std::vector<uint64_t> iovas, cq;
  std::vector<std::unique_ptr<Queue>> queues;
  std::vector<Pair> pairs;
  std::vector<std::unique_ptr<Plan>> plans;
  Controller controller;
  Grid grid{1, 0};
  Leader leader;
  Report report{};
  uint64_t clock = 0;
  uint64_t launches = 0;
  uint32_t head_doorbell = 0;
  uint32_t slot_bits = 0;
  uint64_t doorbell_writes = 0;
  // Commands that ended without having been submitted.
  uint64_t unsubmitted = 0;
  // Bytes of data that commands have.
  uint64_t used = 0;
  // That commands end without having been submitted, that they are late, and that their device is gone, may be.
  bool may_halt = false;
  bool may_time_out = false;
  bool may_be_lost = false;

 private:
  void lay_out(uint32_t index) {
    queues.push_back(std::make_unique<Queue>());
    Queue& queue = *queues.back();
    Pair& pair = pairs[index];
    pair = {};
    queue.sq.resize(4 * layout.sq_entries);
    memset(queue.sq.data(), 0xff, 16 * queue.sq.size());
    const uint32_t list_bytes = layout.list_pages * layout.page_bytes;
    queue.lists.assign(list_bytes * layout.slots / 8, kPoison);
    const uint32_t list_pages = layout.list_pages * layout.slots;
    for (uint32_t page = 0; page < list_pages; page++) {
      queue.list_iovas.push_back((index + 1) * 0x100000000 + (list_pages - page) * layout.page_bytes);
      controller.ranges.push_back({queue.list_iovas.back(), layout.page_bytes,
                                   reinterpret_cast<uint8_t*>(queue.lists.data()) + page * layout.page_bytes});
    }
    pair.prp_list_runs = {queue.list_iovas.data(), static_cast<uint64_t>(__builtin_ctz(layout.page_bytes))};
    pair.sq = queue.sq.data();
    pair.tail_doorbell = &queue.tail_doorbell;
    pair.prp_lists = queue.lists.data();
    pair.prp_list_bytes = list_bytes;
    pair.page_bytes = layout.page_bytes;
    queue.slots.resize(layout.slots);
    for (uint32_t slot = 0; slot < layout.slots; slot++) {
      queue.slots[slot] = {};
      queue.slots[slot].generation = layout.first_generation;
      queue.ring.push_back(slot);
    }
    pair.slots = queue.slots.data();
    pair.free_slots = queue.ring.data();
    pair.shares = queue.shares.data();
    pair.control = &queue.control;
    pair.active = queue.active.data();
    // Not in the order of the queues' places.
    pair.qid = 3 + layout.pairs - index;
    pair.sq_entries = layout.sq_entries;
    pair.slot_count = layout.slots;
    pair.slot_bits = slot_bits;
    pair.free_count = layout.slots;
    controller.sqs.push_back({static_cast<uint16_t>(pair.qid), queue.sq.data()->word, layout.sq_entries,
                              &queue.tail_doorbell, (1u << slot_bits) - 1});
  }

  void judge(Plan& plan) {
    plan.done = true;
    REQUIRE(plan.words.front() == kPoison && plan.words.back() == kPoison, "outcomes outside of a plan's own");
    for (size_t i = 0; i < plan.commands.size(); i++) {
      const Command& command = plan.commands[i];
      plan.outcomes.push_back(plan.words[1 + command.index]);
      Expected& expected = controller.expected[plan.first + i];
      const uint64_t slba = controller.first_slba + plan.first + i;
      const uint64_t word = plan.outcomes.back();
      const auto check = [&](bool right, const char* what) {
        REQUIRE(right, "SLBA %llu, of share %u of queue %u, has outcome 0x%llx: %s (it was %s, with CID 0x%x and status 0x%x)",
                ull(slba), plan.number, plan.pair, ull(word), what,
                expected.completed ? "completed" : expected.fetches > 0 ? "fetched" : "not fetched", expected.cid, expected.status);
      };
      if (word == 0) {
        check(plan.cancelled || may_halt, "it ought to have been submitted");
        check(expected.fetches == 0, "it was submitted");
        // Whoever fetches it now takes one for the second time.
        expected.fetches++;
        unsubmitted++;
        continue;
      }
      if (expected.fetches > 0) check(plan.cid(i) == expected.cid, "another's CID");
      switch (plan.ending(i)) {
        case Ending::SUCCESS:
          check(expected.completed && expected.status == 0 && plan.status(i) == 0, "no such completion");
          for (uint32_t at = 0; at < command.blocks * layout.block_bytes; at += 4) {
            uint32_t data;
            memcpy(&data, memory.data() + command.offset + at, 4);
            check(data == pattern(slba, at), "not its data");
          }
          break;
        case Ending::STATUS:
          check(expected.completed && expected.status != 0 && plan.status(i) == expected.status, "no such completion");
          break;
        case Ending::TIMEOUT:
          check(may_time_out && load(&clock) >= plan.timeout_ns && plan.status(i) == 0, "its time is not over");
          check(load(&report.halted) != 0, "the host is told that its share is done, and not yet that the leader is halted");
          break;
        case Ending::LOST: check(may_be_lost && plan.status(i) == 0, "the device is there"); break;
        default: check(false, "no such ending");
      }
    }
    // The host gives this memory to others now.
    std::fill(plan.words.begin(), plan.words.end(), kPoison);
    memset(static_cast<void*>(plan.commands.data()), 0xee, plan.commands.size() * sizeof(Command));
  }
};

}  // namespace model
