// `pattern_completions_test SERVER CASE`: completions of a PatternDrive, served by a CPU thread (solo) or a warp (warp), and its
// counts.
#include "gpu-check/pattern_drive_rig.h"

#include <algorithm>

namespace model {
namespace {

template <class Server>
struct Cases {
  using Rig = DriveRig<Server>;
  // A CPU thread has eight stations, a warp one per lane.
  static constexpr uint32_t kStations = Server::Team::kLanes == 1 ? 8 : 32;

  static DrivePlan plan_of(void (*change)(DrivePlan&)) {
    DrivePlan plan = no_faults();
    change(plan);
    return plan;
  }

  static void ordered() {
    Rig rig;
    REQUIRE(!rig.turn(), "an empty queue has something to do");
    for (uint32_t cid = 0; cid < 30; cid += 5) {
      rig.submit_flushes(cid, 5);
      REQUIRE(rig.turn(), "nothing to do");
      expect_cids("in order", rig.take(), {cid, cid + 1, cid + 2, cid + 3, cid + 4});
    }
    REQUIRE(!rig.turn(), "an empty queue has something to do");
  }

  static void reversed() {
    Rig rig(plan_of([](DrivePlan& plan) { plan.reverses = 1; }));
    rig.submit_flushes(0, 4);
    rig.turn();
    rig.submit_flushes(4, 3);
    rig.turn();
    expect_cids("two rounds in reverse order", rig.take(), {3, 2, 1, 0, 6, 5, 4});
  }

  static void delayed() {
    for (const uint32_t rounds : {1u, 2u, 3u}) {
      for (const bool has_others : {false, true}) {
        DrivePlan plan = no_faults();
        plan.delay_one_in = 7;
        plan.delay_rounds = rounds;
        Rig rig(plan);
        rig.submit_flushes(0, 7);
        rig.turn();
        expect_cids("without the seventh", rig.take(), {0, 1, 2, 3, 4, 5});
        for (uint32_t round = 1; round < rounds; round++) {
          if (has_others) rig.submit_flushes(10 + round, 1);
          REQUIRE(rig.turn() == has_others, "a turn before it is due");
          expect_cids("only others before it is due", rig.take(), has_others ? Cids{10 + round} : Cids{});
        }
        REQUIRE(rig.turn(), "no completion is posted");
        expect_cids("the seventh", rig.take(), {6});
        REQUIRE(!rig.turn(), "commands are left");
      }
    }
  }

  // Delayed commands leave stations free between theirs.
  static void interleaved() {
    Rig rig(plan_of([](DrivePlan& plan) { plan.delay_one_in = 2, plan.delay_rounds = 2; }), 16);
    Cids seen;
    for (uint32_t cid = 0; cid < 40; cid += 4) {
      rig.submit_flushes(cid, 4);
      rig.turn();
      for (const uint32_t done : rig.take()) seen.push_back(done);
    }
    for (int round = 0; round < 3; round++) rig.turn();
    for (const uint32_t done : rig.take()) seen.push_back(done);
    std::sort(seen.begin(), seen.end());
    Cids all;
    for (uint32_t cid = 0; cid < 40; cid++) all.push_back(cid);
    expect_cids("each once", seen, all);
    REQUIRE(rig.queue.mistakes == 0, "%llu mistakes", ull(rig.queue.mistakes));
  }

  static void doubled() {
    Rig rig(plan_of([](DrivePlan& plan) { plan.duplicate_one_in = 2; }), 16);
    rig.submit_flushes(0, 5);
    rig.turn();
    expect_cids("the second and the fourth twice", rig.take(), {0, 1, 1, 2, 3, 3, 4});
    Rig reversed(plan_of([](DrivePlan& plan) { plan.duplicate_one_in = 2, plan.reverses = 1; }), 16);
    reversed.submit_flushes(0, 5);
    reversed.turn();
    expect_cids("the second and the fourth twice, reversed", reversed.take(), {4, 3, 3, 2, 1, 1, 0});
  }

  static void lost() {
    Rig rig(plan_of([](DrivePlan& plan) { plan.lose_one_in = 3; }));
    rig.submit_flushes(0, 7);
    rig.turn();
    expect_cids("without the third and the sixth", rig.take(), {0, 1, 3, 4, 6});
    for (int round = 0; round < 10; round++) REQUIRE(!rig.turn(), "a lost command has something to do");
    expect_cids("a lost command", rig.take(), {});
    REQUIRE(rig.queue.lost == 2, "%llu are lost", ull(rig.queue.lost));
    // They occupy no station.
    for (uint32_t cid = 10; cid < 40; cid++) {
      rig.submit_flushes(cid, 1);
      rig.turn();
      expect_cids("the next commands", rig.take(), (cid - 10 + 7) % 3 == 2 ? Cids{} : Cids{cid});
    }
  }

  // Four laps and a half of eight entries, by steps that are not a divisor of the lap.
  static void laps() {
    Rig rig;
    for (uint32_t cid = 0; cid < 36; cid += 3) {
      rig.submit_flushes(cid, 3);
      rig.turn();
      const std::vector<Completion> found = rig.poll();
      REQUIRE(found.size() == 3, "%zu completions after command %u", found.size(), cid);
      for (uint32_t i = 0; i < 3; i++) {
        REQUIRE(found[i].cid == cid + i, "command %u, not %u", found[i].cid, cid + i);
        REQUIRE(found[i].sq_head == (cid + 3) % 8, "SQ head %u after %u commands", found[i].sq_head, cid + 3);
      }
      rig.release(3);
      REQUIRE(rig.poll().empty(), "a completion of an earlier lap is taken for a new one");
    }
  }

  // The SQ head pointer does not pass commands that no station has taken.
  static void stations() {
    Rig rig(no_faults(), 64);
    rig.submit_flushes(0, 60);
    for (uint32_t fetched = 0; fetched < 60;) {
      const uint32_t count = fetched + kStations < 60 ? kStations : 60 - fetched;
      REQUIRE(rig.turn(), "nothing to do after %u commands", fetched);
      const std::vector<Completion> found = rig.poll();
      rig.release(count);
      REQUIRE(found.size() == count, "%zu completions, not %u", found.size(), count);
      fetched += count;
      for (const Completion& completion : found) REQUIRE(completion.sq_head == fetched, "SQ head %u", completion.sq_head);
    }
    REQUIRE(!rig.turn(), "commands are left");
  }

  static void full() {
    Rig rig;
    Cids seen;
    const auto take = [&](uint32_t count) {
      const std::vector<Completion> found = rig.poll();
      REQUIRE(found.size() == count, "%zu completions, not %u", found.size(), count);
      for (const Completion& completion : found) seen.push_back(completion.cid);
    };
    // Another place in the ring than its start.
    rig.submit_flushes(50, 5);
    rig.turn();
    rig.take();
    rig.submit_flushes(0, 7);
    rig.turn();
    take(7);
    // All seven are consumed, but the drive cannot know.
    const std::vector<uint64_t> before = rig.cq;
    rig.submit_flushes(7, 6);
    for (int round = 0; round < 3; round++) REQUIRE(!rig.turn(), "a full queue has something to do");
    REQUIRE(rig.cq == before, "a full queue is written");
    uint32_t left = 6;
    for (const uint32_t count : {1u, 2u}) {
      rig.release(count);
      REQUIRE(rig.turn(), "room is not used");
      REQUIRE(!rig.turn(), "more than the room is used");
      take(count);
      left -= count;
    }
    rig.release(7);
    rig.turn();
    take(left);
    std::sort(seen.begin(), seen.end());
    expect_cids("each once", seen, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12});
    REQUIRE(rig.queue.mistakes == 0, "%llu mistakes", ull(rig.queue.mistakes));
    rig.report();
    REQUIRE(rig.queue.commands == 18 && rig.queue.completions == 18, "counts differ from 18 commands");
  }

  // A command that is completed twice waits for the room of both entries.
  static void full_doubled() {
    Rig rig(plan_of([](DrivePlan& plan) { plan.duplicate_one_in = 7; }));
    rig.submit_flushes(0, 7);
    rig.turn();
    const auto cids = [&] {
      Cids found;
      for (const Completion& completion : rig.poll()) found.push_back(completion.cid);
      return found;
    };
    expect_cids("six of seven", cids(), {0, 1, 2, 3, 4, 5});
    REQUIRE(!rig.turn(), "a single entry of room is used");
    rig.release(1);
    REQUIRE(rig.turn(), "two entries of room are not used");
    expect_cids("twice", cids(), {6, 6});
  }

  static void counts() {
    Rig rig(plan_of([](DrivePlan& plan) { plan.lose_one_in = 5, plan.duplicate_one_in = 3; }), 32);
    rig.submit_flushes(0, 6);
    rig.turn();
    rig.turn();
    rig.submit_flushes(6, 1);
    rig.turn();
    // Two doorbell writes between two polls count as one.
    rig.submit_flushes(7, 1);
    rig.submit_flushes(8, 1);
    rig.turn();
    Entry wrong = Rig::entry_of(kFlush, 9);
    wrong.dword[1] = 0;
    rig.submit(wrong);
    rig.turn();
    wrong.dword[2] = 1;
    rig.submit(wrong);
    rig.turn();
    const auto expect = [&](const char* what, uint64_t count, uint64_t expected) {
      REQUIRE(count == expected, "%s: %llu, not %llu", what, ull(count), ull(expected));
    };
    expect("commands before the report", rig.queue.commands, 0);
    rig.report();
    expect("commands", rig.queue.commands, 11);
    expect("rings", rig.queue.rings, 5);
    // Commands 4 and 9 are lost, and 2, 5 and 8 completed twice.
    expect("completions", rig.queue.completions, 12);
    expect("lost", rig.queue.lost, 2);
    expect("mistakes", rig.queue.mistakes, 2);
    expect("first mistake", rig.queue.first_mistake, static_cast<uint64_t>(Mistake::NSID));
    REQUIRE(rig.poll().size() == 12, "completions in the queue");
  }

  static std::vector<Named> all() {
    return {{"ordered", ordered}, {"reversed", reversed}, {"delayed", delayed}, {"interleaved", interleaved},
            {"doubled", doubled}, {"lost", lost}, {"laps", laps}, {"stations", stations},
            {"full", full}, {"full_doubled", full_doubled}, {"counts", counts}};
  }
};

}  // namespace
}  // namespace model

int main(int count, char** args) { model::run_case<model::Cases>(count, args); }
