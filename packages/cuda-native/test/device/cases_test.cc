// Single cases with exact outcomes: `cases_test [CASE]` runs one or all of them. Only the script of a case moves the controller,
// the host and the clock. It runs between operations of the leader.
#include "hook_port.h"
#include "rig.h"
#include "solo_team.cuh"

namespace model {
namespace {

constexpr uint32_t kRead = GPUNVME_NVM_OPCODE_READ;
constexpr uint32_t kWrite = GPUNVME_NVM_OPCODE_WRITE;
constexpr uint32_t kFlush = GPUNVME_NVM_OPCODE_FLUSH;
// Unrecovered Read Error with Do Not Retry, without the Phase Tag.
constexpr uint16_t kReadError = 0x4281;

#define EXPECT(expression, expectation)                                                                  \
  do {                                                                                                   \
    const ull actual_word = static_cast<ull>(expression), expected_word = (expectation);                 \
    REQUIRE(actual_word == expected_word, "line %d: %s is 0x%llx, expected 0x%llx", __LINE__, #expression, \
            actual_word, expected_word);                                                                 \
  } while (0)

// A rig, with a script that runs between operations of its leader.
struct Case {
  explicit Case(const Layout& layout = {}) : rig(layout) {
    HookPort::between = {};
    HookPort::rings = [this](const uint32_t* at, uint32_t value) { rig.rung(at, value); };
  }

  // Runs a launch. `script` runs before each operation, with the number of operations so far.
  void launch(const std::function<void(uint64_t)>& script = {}) {
    rig.launches++;
    uint64_t operations = 0;
    HookPort::between = [&] {
      REQUIRE(++operations < 100'000, "no end after %llu operations", ull(operations));
      if (script) script(operations);
    };
    serve<SoloTeam, HookPort>(rig.leader, rig.launches);
    HookPort::arrive();
    rig.ended();
    HookPort::between = {};
    EXPECT(rig.has_ended(), 1);
  }

  Controller& controller() { return rig.controller; }
  // Fetches all announced entries.
  void fetch() {
    while (controller().announced(controller().sqs[0]) > 0) controller().fetch(0);
  }
  // Fetches all announced entries, and completes all commands that are not dropped.
  void answer() {
    fetch();
    for (size_t at = 0; at < controller().outstanding.size();) {
      if (controller().outstanding[at].dropped) at++;
      else if (controller().room() == 0) return;
      else controller().complete(at);
    }
  }
  void drop(uint32_t command) {
    for (auto& outstanding : controller().outstanding)
      if (outstanding.command == command) outstanding.dropped = true;
  }
  void complete_command(uint32_t command, uint16_t status = 0) {
    for (size_t at = 0; at < controller().outstanding.size(); at++)
      if (controller().outstanding[at].command == command) return controller().complete(at, status);
    fail("command %u is not outstanding", command);
  }
  // Checks that all shares are done, and the final state.
  void end() {
    REQUIRE(rig.look(), "not every share is done");
    rig.finish();
  }
  Plan& plan(size_t at) { return *rig.plans[at]; }
  uint64_t fetches(size_t plan_at) {
    uint64_t count = 0;
    for (size_t i = 0; i < plan(plan_at).commands.size(); i++) count += controller().expected[plan(plan_at).first + i].fetches;
    return count;
  }

  Rig rig;
};

const auto TIMEOUT = static_cast<uint64_t>(Ending::TIMEOUT);
const auto SUCCESS = static_cast<uint64_t>(Ending::SUCCESS);
const auto STATUS = static_cast<uint64_t>(Ending::STATUS);
const auto LOST = static_cast<uint64_t>(Ending::LOST);
uint64_t ending(const Plan& plan, size_t at) { return static_cast<uint64_t>(plan.ending(at)); }

// An error affects only its own command; the queue remains usable.
void error_then_usable() {
  Case test;
  test.rig.post(kRead, {1, 2, 3, 4, 5, 6});
  test.launch([&](uint64_t) {
    test.fetch();
    if (test.rig.controller.outstanding.empty()) return;
    const uint32_t command = test.controller().outstanding.back().command;
    test.complete_command(command, command == 2 ? kReadError : 0);
  });
  test.rig.look();
  for (uint32_t i = 0; i < 6; i++) EXPECT(ending(test.plan(0), i), i == 2 ? STATUS : SUCCESS);
  EXPECT(test.plan(0).status(2), 0x4281);
  for (uint32_t lap = 0; lap < 20; lap++) {
    test.rig.post(lap % 2 ? kWrite : kRead, {7, 40, 1, 9});
    test.launch([&](uint64_t) { test.answer(); });
  }
  EXPECT(test.rig.report.halted, 0);
  test.end();
}

void flush() {
  Case test;
  test.rig.post(kFlush, {0});
  test.rig.post(kRead, {1});
  test.launch([&](uint64_t) { test.answer(); });
  test.end();
  EXPECT(ending(test.plan(0), 0), SUCCESS);
}

// A command that does not complete affects no outcome of others; no further commands are submitted.
void timeout_while_others_complete() {
  Case test;
  test.rig.may_time_out = test.rig.may_halt = true;
  test.rig.post(kRead, {1, 1, 1, 1, 1, 1});
  uint32_t step = 0;
  test.launch([&](uint64_t) {
    test.fetch();
    if (step == 0 && test.controller().outstanding.size() == 4) {
      test.drop(1);
      test.complete_command(0, kReadError);
      test.complete_command(3);
      test.rig.clock = 999;
      step++;
    } else if (step == 1 && test.controller().outstanding.size() == 4) {
      // 4 and 5 were submitted at 999; 1 and 2 have 1 ns left.
      test.complete_command(2);
      step++;
    } else if (step == 2 && test.rig.leader.queue.free_count == 1) {
      test.rig.clock = 1000;
      step++;
    } else if (step == 3 && test.rig.leader.queue.state != GNV_RUNNING) {
      test.answer();
      step++;
    }
  });
  test.rig.look();
  const uint64_t expected[] = {STATUS, TIMEOUT, SUCCESS, SUCCESS, SUCCESS, SUCCESS};
  for (uint32_t i = 0; i < 6; i++) EXPECT(ending(test.plan(0), i), expected[i]);
  EXPECT(test.plan(0).status(0), kReadError);
  EXPECT(test.rig.report.halted, 1);
  test.rig.post(kRead, {1, 1});
  test.launch([&](uint64_t) { test.answer(); });
  test.rig.look();
  EXPECT(test.plan(1).outcomes[0] | test.plan(1).outcomes[1], 0);
  EXPECT(test.rig.leader.queue.free_count, 3);
  test.end();
}

// A completion after the deadline changes no outcome and frees no slot, whether its plan has ended or not.
void late_completions() {
  Layout layout;
  layout.slots = 2;
  Case test(layout);
  test.rig.may_time_out = true;
  test.rig.post(kRead, {1, 1, 1});
  uint32_t step = 0;
  test.launch([&](uint64_t) {
    test.fetch();
    if (step == 0 && test.controller().outstanding.size() == 2) {
      test.rig.clock = 500;
      test.complete_command(1);
      step++;
    } else if (step == 1 && test.controller().outstanding.size() == 2) {
      test.rig.clock = 1000;
      step++;
    } else if (step == 2 && test.rig.leader.queue.state != GNV_RUNNING) {
      test.complete_command(0);
      step++;
    } else if (step == 3 && test.rig.leader.queue.stale == 1) {
      test.complete_command(2);
      step++;
    }
  });
  EXPECT(step, 4);
  const uint16_t cid = test.controller().expected[0].cid;
  test.controller().stray(kQid, cid);
  test.launch();
  test.end();
  const uint64_t expected[] = {TIMEOUT, SUCCESS, SUCCESS};
  for (uint32_t i = 0; i < 3; i++) EXPECT(ending(test.plan(0), i), expected[i]);
  EXPECT(test.rig.report.stale, 2);
  EXPECT(test.rig.report.halted, 1);
  EXPECT(test.rig.leader.queue.free_count, 1);
}

// A completion that arrives before the deadline counts, however late the leader polls it.
void late_look() {
  // More operations than between two reads of the clock.
  for (uint64_t at = 1; at < 500; at++) {
    Case test;
    test.rig.post(kRead, {1});
    test.launch([&](uint64_t operations) {
      test.fetch();
      if (operations < at || test.controller().outstanding.empty()) return;
      test.complete_command(0);
      test.rig.clock = 1000;
    });
    test.end();
    EXPECT(ending(test.plan(0), 0), SUCCESS);
  }
}

// A command without a completion times out even under a constant flow of completions.
void deadline_under_constant_flow() {
  Case test;
  test.rig.may_time_out = test.rig.may_halt = true;
  test.rig.post(kRead, std::vector<uint32_t>(1500, 1), 300);
  test.launch([&](uint64_t operations) {
    test.rig.clock = operations;
    test.fetch();
    test.drop(0);
    test.answer();
  });
  test.rig.look();
  EXPECT(ending(test.plan(0), 0), TIMEOUT);
  uint32_t succeeded = 0, unsubmitted = 0;
  for (uint32_t i = 1; i < 1500; i++) {
    succeeded += ending(test.plan(0), i) == SUCCESS;
    unsubmitted += test.plan(0).outcomes[i] == 0;
  }
  EXPECT(succeeded + unsubmitted, 1499);
  REQUIRE(succeeded > 50 && unsubmitted > 50, "%u completed, %u not submitted", succeeded, unsubmitted);
  test.end();
}

// After the controller is lost, commands in flight end as lost and are not awaited.
void control_lost() {
  Case test;
  test.rig.may_be_lost = test.rig.may_halt = true;
  test.rig.post(kRead, {1});
  test.rig.post(kWrite, {1, 1, 1, 1});
  test.launch([&](uint64_t) {
    test.fetch();
    if (test.controller().outstanding.size() == 4) test.rig.flag(CONTROL_HALT | CONTROL_LOST);
  });
  test.rig.look();
  EXPECT(ending(test.plan(0), 0), LOST);
  for (uint32_t i = 0; i < 3; i++) EXPECT(ending(test.plan(1), i), LOST);
  EXPECT(test.plan(1).outcomes[3], 0);
  test.rig.post(kWrite, {1});
  test.launch();
  test.rig.look();
  EXPECT(test.plan(2).outcomes[0], 0);
  test.end();
}

// After a halt, no more commands are submitted, and those in flight are awaited.
void control_halt() {
  Case test;
  test.rig.may_halt = true;
  test.rig.post(kRead, {1, 1, 1, 1, 1, 1});
  uint64_t halted_at = 0;
  test.launch([&](uint64_t operations) {
    test.fetch();
    if (halted_at == 0 && test.controller().outstanding.size() == 4) {
      test.rig.flag(CONTROL_HALT);
      halted_at = operations;
    }
    if (halted_at != 0 && operations > halted_at + 500) test.answer();
  });
  test.rig.look();
  for (uint32_t i = 0; i < 6; i++) EXPECT(test.plan(0).outcomes[i] >> 32, i < 4 ? SUCCESS : 0);
  // No command timed out.
  EXPECT(test.rig.report.halted, 0);
  test.end();
}

void cancel_before_it_is_served() {
  Case test;
  test.rig.post(kRead, {1, 1});
  test.rig.post(kRead, {1, 1});
  test.rig.post(kRead, {1, 1});
  test.rig.cancel(1);
  test.launch([&](uint64_t) { test.answer(); });
  test.rig.look();
  for (uint32_t i = 0; i < 2; i++) {
    EXPECT(ending(test.plan(0), i), SUCCESS);
    EXPECT(test.plan(1).outcomes[i], 0);
    EXPECT(ending(test.plan(2), i), SUCCESS);
  }
  test.end();
}

void cancel_while_it_is_served() {
  Case test;
  test.rig.post(kRead, {1, 1, 1, 1, 1, 1, 1});
  test.rig.post(kRead, {1});
  uint64_t cancelled_at = 0;
  test.launch([&](uint64_t operations) {
    test.fetch();
    if (cancelled_at == 0 && test.controller().outstanding.size() == 4) {
      test.rig.cancel(0);
      cancelled_at = operations;
    }
    if (cancelled_at != 0 && operations > cancelled_at + 200) test.answer();
  });
  test.rig.look();
  for (uint32_t i = 0; i < 7; i++) EXPECT(test.plan(0).outcomes[i] >> 32, i < 4 ? SUCCESS : 0);
  EXPECT(ending(test.plan(1), 0), SUCCESS);
  test.end();
}

void cancel_after_it_was_submitted() {
  Case test;
  test.rig.post(kRead, {1, 1});
  test.launch([&](uint64_t) {
    test.fetch();
    if (test.controller().outstanding.size() == 2) test.rig.cancel(0);
    if (test.plan(0).cancelled) test.answer();
  });
  test.rig.look();
  for (uint32_t i = 0; i < 2; i++) EXPECT(ending(test.plan(0), i), SUCCESS);
  test.rig.cancel(0);
  test.rig.post(kRead, {1});
  test.launch([&](uint64_t) { test.answer(); });
  test.end();
}

// 64 shares at once, some of them cancelled; later rounds reuse their places.
void shares_ring_full() {
  Case test;
  for (uint32_t round = 0; round < 5; round++) {
    for (uint32_t i = 0; i < 64; i++) {
      EXPECT(test.rig.has_room(), 1);
      test.rig.post(kRead, {1, 1});
    }
    EXPECT(test.rig.has_room(), 0);
    test.rig.cancel(64 * round + 63);
    test.rig.cancel(64 * round + 17 + round);
    test.launch([&](uint64_t) { test.answer(); });
    REQUIRE(test.rig.look(), "round %u", round);
  }
  for (uint32_t i = 0; i < 320; i++)
    EXPECT(test.plan(i).outcomes[0] >> 32, i % 64 == 63 || i % 64 == 17 + i / 64 ? 0 : SUCCESS);
  EXPECT(test.rig.report.progress, 320);
  test.end();
}

// A share may be posted at any operation of a leader's last turns: this launch or the next one serves it.
void post_while_it_ends() {
  uint32_t in_next = 0, in_same = 0;
  for (uint64_t at = 1;; at++) {
    Case test;
    test.rig.post(kRead, {1});
    bool posted = false;
    test.launch([&](uint64_t operations) {
      test.answer();
      if (operations != at) return;
      test.rig.post(kRead, {1, 1});
      posted = true;
    });
    if (!posted) break;
    if (test.rig.look()) {
      in_same++;
    } else {
      in_next++;
      test.launch([&](uint64_t) { test.answer(); });
    }
    test.end();
  }
  REQUIRE(in_next > 3 && in_same > 10, "%u in the next launch, %u in the same", in_next, in_same);
}

// A leader lingers for `linger_ns` after its last command, however short that was.
void linger_from_the_last_command() {
  Layout layout;
  layout.linger_ns = 200;
  Case test(layout);
  const uint64_t start = HookPort::now;
  test.rig.post(kRead, {1});
  test.launch([&](uint64_t) {
    test.answer();
    const uint64_t passed = HookPort::now - start;
    if ((passed == 150 && test.rig.plans.size() == 1) || (passed == 300 && test.rig.plans.size() == 2))
      test.rig.post(kRead, {1});
  });
  EXPECT(test.rig.plans.size(), 3);
  REQUIRE(HookPort::now - start < 600, "the leader lingers too long");
  test.end();
}

void stop_ends_a_persistent_leader() {
  Layout layout;
  layout.linger_ns = NO_DEADLINE;
  Case test(layout);
  test.rig.post(kRead, {1, 1, 1, 1, 1, 1});
  uint64_t beats = 0;
  test.launch([&](uint64_t operations) {
    if (operations > 3000) test.answer();
    if (operations == 200) test.rig.flag(CONTROL_STOP);
    beats = test.rig.leader.heartbeat;
  });
  REQUIRE(beats > 2, "a waiting leader has no heartbeat");
  for (uint32_t i = 0; i < 6; i++) REQUIRE(test.rig.look() && ending(test.plan(0), i) == SUCCESS, "command %u", i);
  test.end();
}

// After `run_limit_ns`, a launch stops submitting and ends. The next launch continues with the commands in flight.
void run_limit() {
  Layout layout;
  layout.linger_ns = NO_DEADLINE;
  Case test(layout);
  test.rig.leader.run_limit_ns = 2;
  test.rig.post(kRead, std::vector<uint32_t>(64, 1));
  uint32_t launches = 0;
  for (; test.rig.look() == 0; launches++) {
    test.launch([&](uint64_t operations) {
      if (operations % 200 == 0) test.answer();
    });
  }
  REQUIRE(launches > 1, "no launch ended at its limit");
  for (uint32_t i = 0; i < 64; i++) REQUIRE(ending(test.plan(0), i) == SUCCESS, "command %u", i);
  test.end();
}

// An unanswered command does not keep a launch running beyond its limit or a pause. It has one outcome: that of its
// completion, if a later launch finds one before the deadline.
void unanswered_at_run_limit() {
  Layout layout;
  layout.linger_ns = NO_DEADLINE;
  Case test(layout);
  test.rig.leader.run_limit_ns = 2;
  test.rig.may_time_out = test.rig.may_halt = true;
  test.rig.post(kRead, {1, 1});
  // The clock of deadlines is stopped, so that only the limit can end a launch.
  bool is_answered = false;
  for (const uint32_t left : {2u, 1u, 1u}) {
    test.launch([&](uint64_t) {
      test.fetch();
      if (left == 2 || is_answered) return;
      test.complete_command(0);
      is_answered = true;
    });
    EXPECT(test.rig.report.in_flight, left);
    EXPECT(test.rig.look(), 0);
  }
  test.rig.leader.run_limit_ns = 0;
  test.rig.flag(CONTROL_PAUSE);
  test.launch([&](uint64_t) {});
  EXPECT(test.rig.report.in_flight, 1);
  test.rig.unflag(CONTROL_PAUSE);
  test.rig.leader.linger_ns = 0;
  test.launch([&](uint64_t operations) {
    if (operations == 500) test.rig.clock = 1000;
  });
  REQUIRE(test.rig.look(), "the plan did not end");
  EXPECT(test.rig.report.in_flight, 0);
  REQUIRE(ending(test.plan(0), 0) == SUCCESS, "the answered command failed");
  REQUIRE(ending(test.plan(0), 1) == TIMEOUT, "the unanswered command did not time out");
  test.end();
}

// Completions of no command are counted, and assigned to no command.
void strays() {
  Layout layout;
  layout.entries = 32;
  layout.slots = 5;
  Case test(layout);
  test.rig.post(kRead, {1, 1});
  test.rig.post(kRead, {1});
  bool sent = false;
  test.launch([&](uint64_t) {
    test.fetch();
    auto& controller = test.controller();
    if (sent || controller.outstanding.size() != 3) return;
    sent = true;
    const uint16_t first = controller.expected[0].cid, other = controller.expected[2].cid;
    // Slots 5, 6 and 7 do not exist, slot 4 is free, and slot 0 is in its first use.
    for (const uint16_t cid : {5, 6, 7, 4, 0, 0x0100, 0xfff8, 0xffff}) controller.stray(kQid, cid);
    controller.stray(0, first);
    controller.stray(99, first);
    controller.stray(0xffff, first);
    test.complete_command(0, kReadError);
    controller.stray(kQid, first);
    test.complete_command(1);
    test.complete_command(2);
    controller.stray(kQid, other);
  });
  test.end();
  EXPECT(test.rig.report.stale, 13);
  EXPECT(ending(test.plan(0), 0), STATUS);
  EXPECT(ending(test.plan(0), 1), SUCCESS);
  EXPECT(ending(test.plan(1), 0), SUCCESS);
}

// One command in flight, and a completion queue with room for its completion only.
void queue_of_two() {
  Layout layout;
  layout.entries = 2;
  layout.slots = 1;
  Case test(layout);
  for (uint32_t i = 0; i < 12; i++) test.rig.post(i % 2 ? kRead : kWrite, {1, 2, 3, 4, 5});
  test.launch([&](uint64_t) { test.answer(); });
  test.end();
}

// Four commands need one tail doorbell write, and one head doorbell write for their completions.
void doorbells_of_a_batch() {
  Case test;
  test.rig.post(kRead, {1, 1, 1, 1});
  test.launch([&](uint64_t) {
    test.fetch();
    if (test.controller().outstanding.size() == 4) test.answer();
  });
  EXPECT(test.rig.report.doorbell_writes, 2);
  test.end();
}

// A poll that finds no completion releases none: eight completions found by separate polls need two head doorbell writes.
void releases_in_batches() {
  Layout layout;
  layout.entries = 16;
  layout.slots = 8;
  Case test(layout);
  test.rig.post(kRead, {1, 1, 1, 1, 1, 1, 1, 1});
  test.launch([&](uint64_t operations) {
    test.fetch();
    if (operations % 200 == 0 && !test.controller().outstanding.empty()) test.controller().complete(0);
  });
  EXPECT(test.rig.report.doorbell_writes, 1 + 2);
  test.end();
}

struct Named {
  const char* name;
  void (*run)();
};
constexpr Named kCases[] = {
#define CASE(name) {#name, name}
    CASE(error_then_usable),
    CASE(flush),
    CASE(timeout_while_others_complete),
    CASE(late_completions),
    CASE(late_look),
    CASE(deadline_under_constant_flow),
    CASE(control_lost),
    CASE(control_halt),
    CASE(cancel_before_it_is_served),
    CASE(cancel_while_it_is_served),
    CASE(cancel_after_it_was_submitted),
    CASE(shares_ring_full),
    CASE(post_while_it_ends),
    CASE(linger_from_the_last_command),
    CASE(stop_ends_a_persistent_leader),
    CASE(run_limit),
    CASE(unanswered_at_run_limit),
    CASE(strays),
    CASE(queue_of_two),
    CASE(doorbells_of_a_batch),
    CASE(releases_in_batches),
};

const char* running = "";

}  // namespace
}  // namespace model

int main(int count, char** args) {
  using namespace model;
  explain = [] { fprintf(stderr, "case %s\n", running); };
  for (const Named& each : kCases) {
    if (count > 1 && strcmp(args[1], each.name) != 0) continue;
    running = each.name;
    each.run();
    printf("%s\n", each.name);
  }
}
