// The loop of a leader. While it runs, no other code accesses its queues.
#pragma once

#include "complete.cuh"

namespace gpunvme {

// Interval of turns for reading control words, which cross PCIe. Without work in flight, every turn reads them.
constexpr uint32_t TURNS_BETWEEN_CONTROLS = 16;
// Intervals for reading the clock, in empty polls and in turns. The latter detects expired commands under a constant
// flow of completions.
constexpr uint32_t POLLS_BETWEEN_CLOCKS = 64;
constexpr uint32_t TURNS_BETWEEN_CLOCKS = 256;

// Polls the control word of a queue; returns false if it is unchanged.
template <class Port>
GPUNVME_DEVICE bool obey(Leader& leader, Pair& pair) {
  // An acquire load invalidates a GPU's L1 cache, so it is done only after a change.
  if (Port::load_relaxed64(pair.control) == pair.seen_control) return false;
  const uint64_t control = Port::load_acquire64(pair.control);
  const uint64_t changed = control ^ pair.seen_control;
  pair.seen_control = control;
  for (const uint32_t posted = static_cast<uint32_t>(control & CONTROL_POSTED); pair.taken != posted; pair.taken++) {
    const Share& from = pair.shares[pair.taken % SHARES];
    // A separate load: the host may set this word concurrently.
    const uint64_t cancelled = Port::load_relaxed64(&from.cancelled);
    pair.active[pair.taken % SHARES] =
        Active{{from.commands, from.outcomes, from.memory, from.timeout_ns, from.count, from.nsid, from.block_bytes,
                from.opcode, cancelled, 0},
               0, 0, false, false};
  }
  if ((changed & CONTROL_CANCELS) != 0) {
    for (uint32_t number = pair.served; number != pair.taken; number++) {
      const uint64_t cancelled = Port::load_relaxed64(&pair.shares[number % SHARES].cancelled);
      pair.active[number % SHARES].share.cancelled = cancelled;
    }
  }
  leader.stopping = (control & CONTROL_STOP) != 0;
  if ((control & CONTROL_PAUSE) != 0) leader.draining = true;
  if ((control & (CONTROL_HALT | CONTROL_LOST)) != 0) leader.halted = true;
  if ((control & CONTROL_LOST) != 0) give_up<Port>(leader, Ending::LOST, NO_DEADLINE);
  return true;
}

// Returns the number of commands in flight on all queues.
GPUNVME_DEVICE uint32_t in_flight_of(const Leader& leader) {
  uint32_t in_flight = 0;
  for (uint32_t index = 0; index < leader.pair_count; index++) in_flight += leader.pairs[index].in_flight;
  return in_flight;
}

template <class Port>
GPUNVME_DEVICE void report_end(Leader& leader, uint64_t launch) {
  publish<Port>(leader);
  Port::store_relaxed64(&leader.report->in_flight, in_flight_of(leader));
  Port::store_release64(&leader.report->ended, launch);
  Port::wake_host(leader.context);
}

// Adds `change` (1, 0 or -1) to the number of idle leaders of a launch, and returns the sum. Once all leaders are idle, the
// number no longer changes, and all of them end.
template <class Port>
GPUNVME_DEVICE uint32_t count_idle(Grid& grid, uint64_t launch, int32_t change) {
  for (uint64_t seen = Port::load_relaxed64(&grid.idle);;) {
    const bool is_first = static_cast<uint32_t>(seen >> 32) != static_cast<uint32_t>(launch);
    const uint32_t idle = is_first ? 0 : static_cast<uint32_t>(seen);
    if (idle == grid.leaders || change == 0) return idle;
    const uint32_t now = idle + static_cast<uint32_t>(change);
    const uint64_t before = Port::cas64_gpu(&grid.idle, seen, launch << 32 | now);
    if (before == seen) return now;
    seen = before;
  }
}

// Serves the queues until all leaders of the grid have had no work for `linger_ns`, the host sets stop or pause, or
// `run_limit_ns` has passed. After a pause or at the limit, commands may still be in flight: their slots wait for the next
// launch, so that a command that is never answered does not keep a kernel running. `launch` counts the calls for this leader,
// which do not overlap.
template <class Port, class Crew = Alone>
GPUNVME_DEVICE void serve(Leader& leader, uint64_t launch) {
  leader.draining = false;
  // The last launch may have seen a pause that has ended meanwhile; a new one must count as a change.
  for (uint32_t index = 0; index < leader.pair_count; index++) leader.pairs[index].seen_control &= ~CONTROL_PAUSE;
  const uint64_t start_ns = Port::now_ns();
  uint32_t empty_polls = 0;
  uint64_t idle_since_ns = NO_DEADLINE;
  bool is_idle = false;
  uint64_t expired_ns = 0;
  for (uint32_t turn = 0;; turn++) {
    const uint32_t consumed = consume<Port>(leader);
    empty_polls = consumed > 0 ? 0 : empty_polls + 1;
    // Only after all completions that had arrived are consumed: if the thread was descheduled between polling the queue
    // and reading the clock, no command may time out because of it.
    if (expired_ns > 0) give_up<Port>(leader, Ending::TIMEOUT, expired_ns);
    expired_ns = 0;

    // Control words are read every turn only if all queues are idle.
    uint32_t in_flight = in_flight_of(leader);
    const bool look_at_control = in_flight == 0 || turn % TURNS_BETWEEN_CONTROLS == 0;
    bool has_news = false;
    for (uint32_t index = 0; look_at_control && index < leader.pair_count; index++) {
      if (obey<Port>(leader, leader.pairs[index])) has_news = true;
    }
    if (has_news && is_idle) {
      count_idle<Port>(*leader.grid, launch, -1);
      is_idle = false;
    }
    in_flight = 0;
    uint32_t staged = 0;
    for (uint32_t index = 0; index < leader.pair_count; index++) {
      Pair& pair = leader.pairs[index];
      staged += submit<Port, Crew>(leader, pair);
      in_flight += pair.in_flight;
    }

    // Also without reading the clock: a short command counts as work too.
    if (in_flight > 0) idle_since_ns = NO_DEADLINE;
    const bool look_at_clock = empty_polls % POLLS_BETWEEN_CLOCKS == POLLS_BETWEEN_CLOCKS - 1 || in_flight == 0;
    if (look_at_clock || turn % TURNS_BETWEEN_CLOCKS == 0) {
      const uint64_t now_ns = time_of<Port>(leader);
      if (now_ns >= leader.next_deadline_ns) expired_ns = now_ns;
      // Before the launch ends too: the controller may need the room for completions that the next launch awaits.
      if (empty_polls >= Port::PATIENT_POLLS || in_flight == 0 || leader.draining) release_completions<Port>(leader);
      if (turn % TURNS_BETWEEN_CLOCKS == 0) Port::store_relaxed64(&leader.report->heartbeat, ++leader.heartbeat);
      if (in_flight == 0) {
        const uint64_t idle_ns = Port::now_ns();
        if (idle_since_ns == NO_DEADLINE) idle_since_ns = idle_ns;
        if (leader.stopping || leader.draining) break;
        const bool becomes_idle = !is_idle && idle_ns - idle_since_ns >= leader.linger_ns;
        if (becomes_idle) is_idle = true;
        if (is_idle && count_idle<Port>(*leader.grid, launch, becomes_idle ? 1 : 0) == leader.grid->leaders) break;
      } else if (leader.draining) {
        break;
      }
      if (leader.run_limit_ns != 0 && Port::now_ns() - start_ns >= leader.run_limit_ns) leader.draining = true;
    }
    if (consumed == 0 && staged == 0) Port::relax(empty_polls);
  }
  // Counts as idle, so that the other leaders do not wait for this one.
  if (!is_idle) count_idle<Port>(*leader.grid, launch, 1);
  report_end<Port>(leader, launch);
}

}  // namespace gpunvme
