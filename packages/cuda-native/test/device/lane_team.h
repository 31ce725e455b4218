// A team (see cuda/warp.cuh) whose lanes are CPU threads, for ThreadSanitizer: as on a GPU, only `sync_warp` orders the memory
// accesses of lanes. Lanes exchange values by relaxed accesses, which order nothing for ThreadSanitizer, but x86 keeps their order.
#pragma once

#include <sched.h>

#include "model_controller.h"

namespace model {

// A warp of few lanes: ThreadSanitizer finds a race of two of them in any order in which they run.
class LaneTeam {
 public:
  static constexpr uint32_t kLanes = 4, kAllLanes = (1u << kLanes) - 1;

  // Makes the calling thread a lane.
  static void enter(uint32_t lane) { lane_ = lane; }

  static uint32_t lane() { return lane_; }
  static uint32_t ballot(uint32_t mask, bool value) {
    const Values values = meet(Call::BALLOT, mask, value);
    uint32_t bits = 0;
    for (uint32_t lane = 0; lane < kLanes; lane++) bits |= static_cast<uint32_t>(values.of[lane]) << lane;
    return bits;
  }
  template <class Word>
  static Word shuffle(uint32_t mask, Word value, uint32_t from) {
    return static_cast<Word>(meet(Call::SHUFFLE, mask, value).of[from]);
  }
  template <class Word>
  static Word shuffle_xor(uint32_t mask, Word value, uint32_t distance) {
    return shuffle(mask, value, lane_ ^ distance);
  }
  static uint32_t match(uint32_t mask, uint32_t value) {
    const Values values = meet(Call::MATCH, mask, value);
    uint32_t bits = 0;
    for (uint32_t lane = 0; lane < kLanes; lane++) bits |= static_cast<uint32_t>(values.of[lane] == value) << lane;
    return bits;
  }
  static void sync_warp(uint32_t mask) {
    // Of two meetings in a row, the later one must not order what comes after the earlier one.
    const uint32_t parity = ++syncs_ % 2;
    __atomic_add_fetch(&ordered_[parity], 1, __ATOMIC_RELEASE);
    meet(Call::SYNC, mask, 0);
    static_cast<void>(load(&ordered_[parity]));
  }

 private:
  enum class Call : uint64_t { BALLOT, SHUFFLE, MATCH, SYNC };
  struct Values {
    uint64_t of[kLanes];
  };
  struct Meeting {
    Values calls, values;
    uint32_t lanes;
  };
  static constexpr uint32_t kPatience = 50'000'000;

  static uint64_t relaxed(const uint64_t& word) { return __atomic_load_n(&word, __ATOMIC_RELAXED); }

  // Waits for all lanes; returns their values. A lane leaves a meeting before it joins the next one, so that two places suffice.
  static Values meet(Call call, uint32_t mask, uint64_t value) {
    REQUIRE(mask == kAllLanes, "lane %u calls with mask %x", lane_, mask);
    Meeting& meeting = meetings_[++met_ % 2];
    __atomic_store_n(&meeting.calls.of[lane_], static_cast<uint64_t>(call), __ATOMIC_RELAXED);
    __atomic_store_n(&meeting.values.of[lane_], value, __ATOMIC_RELAXED);
    const uint32_t all = (met_ + 1) / 2 * kLanes;
    __atomic_add_fetch(&meeting.lanes, 1, __ATOMIC_RELAXED);
    for (uint32_t turns = 0; __atomic_load_n(&meeting.lanes, __ATOMIC_RELAXED) != all; turns++) {
      REQUIRE(turns < kPatience, "lane %u waits for the others", lane_);
      sched_yield();
    }
    Values values;
    for (uint32_t lane = 0; lane < kLanes; lane++) {
      const uint64_t other = relaxed(meeting.calls.of[lane]);
      REQUIRE(other == static_cast<uint64_t>(call), "lanes %u and %u call different functions", lane_, lane);
      values.of[lane] = relaxed(meeting.values.of[lane]);
    }
    return values;
  }

  static inline Meeting meetings_[2];
  static inline uint64_t ordered_[2];
  static inline thread_local uint32_t lane_ = 0, met_ = 0, syncs_ = 0;
};

}  // namespace model
