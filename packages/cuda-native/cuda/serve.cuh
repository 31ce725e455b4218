// The loop of a leader: the only code that touches its queues for as long as it runs.
#pragma once

#include "complete.cuh"

namespace gpunvme {

// A word of the host is read over PCIe: so often while there is other work, and always when there is none.
constexpr uint32_t TURNS_BETWEEN_CONTROLS = 16;
// So often time is looked at, in polls that found nothing, and in turns at all: under a constant flow of completions a
// lost command has its deadline all the same.
constexpr uint32_t POLLS_BETWEEN_CLOCKS = 64;
constexpr uint32_t TURNS_BETWEEN_CLOCKS = 256;

// What the host says to a queue. False where it has said nothing new.
template <class Port>
GPUNVME_DEVICE bool obey(Leader& leader, Pair& pair) {
  // To acquire costs a GPU its L1 cache: only where there is news.
  if (Port::load_relaxed64(pair.control) == pair.seen_control) return false;
  const uint64_t control = Port::load_acquire64(pair.control);
  const uint64_t changed = control ^ pair.seen_control;
  pair.seen_control = control;
  for (const uint32_t posted = static_cast<uint32_t>(control & CONTROL_POSTED); pair.taken != posted; pair.taken++) {
    const Share& from = pair.shares[pair.taken % SHARES];
    // A word by itself: the host may set it at this moment.
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

// Serves the queues until there was nothing to do for `linger_ns`, until the host says stop or pause, or `run_limit_ns` is
// over. Whatever was submitted by then has its outcome. `launch` counts the calls for this leader, which follow each other
// and never overlap.
template <class Port, class Crew = Alone>
GPUNVME_DEVICE void serve(Leader& leader, uint64_t launch) {
  leader.draining = false;
  // A pause that the last launch has seen may be over, and another one be there: that one is news.
  for (uint32_t index = 0; index < leader.pair_count; index++) leader.pairs[index].seen_control &= ~CONTROL_PAUSE;
  const uint64_t start_ns = Port::now_ns();
  uint32_t empty_polls = 0;
  uint64_t idle_since_ns = NO_DEADLINE;
  uint64_t expired_ns = 0;
  for (uint32_t turn = 0;; turn++) {
    const uint32_t consumed = consume<Port>(leader);
    empty_polls = consumed > 0 ? 0 : empty_polls + 1;
    // Only now that everything is consumed which was there by then: that a thread was not run for a while, between its last
    // look at the queue and its look at the clock, makes no command late.
    if (expired_ns > 0) give_up<Port>(leader, Ending::TIMEOUT, expired_ns);
    expired_ns = 0;

    // A queue that is idle while others are not is no reason to read its word at every turn.
    uint32_t in_flight = 0;
    for (uint32_t index = 0; index < leader.pair_count; index++) in_flight += leader.pairs[index].in_flight;
    const bool look_at_control = in_flight == 0 || turn % TURNS_BETWEEN_CONTROLS == 0;
    in_flight = 0;
    uint32_t staged = 0;
    for (uint32_t index = 0; index < leader.pair_count; index++) {
      Pair& pair = leader.pairs[index];
      if (look_at_control) obey<Port>(leader, pair);
      staged += submit<Port, Crew>(leader, pair, empty_polls);
      in_flight += pair.in_flight;
    }

    // Also between two looks at the clock: a command that was quick has been work all the same.
    if (in_flight > 0) idle_since_ns = NO_DEADLINE;
    const bool look_at_clock = empty_polls % POLLS_BETWEEN_CLOCKS == POLLS_BETWEEN_CLOCKS - 1 || in_flight == 0;
    if (look_at_clock || turn % TURNS_BETWEEN_CLOCKS == 0) {
      const uint64_t now_ns = time_of<Port>(leader);
      if (now_ns >= leader.next_deadline_ns) expired_ns = now_ns;
      if (empty_polls >= Port::PATIENT_POLLS || in_flight == 0) release_completions<Port>(leader);
      if (turn % TURNS_BETWEEN_CLOCKS == 0) Port::store_relaxed64(&leader.report->heartbeat, ++leader.heartbeat);
      if (in_flight == 0) {
        const uint64_t idle_ns = Port::now_ns();
        if (idle_since_ns == NO_DEADLINE) idle_since_ns = idle_ns;
        if (leader.stopping || leader.draining || idle_ns - idle_since_ns >= leader.linger_ns) break;
      }
      if (leader.run_limit_ns != 0 && Port::now_ns() - start_ns >= leader.run_limit_ns) leader.draining = true;
    }
    if (consumed == 0 && staged == 0) Port::relax(empty_polls);
  }
  publish<Port>(leader);
  Port::store_release64(&leader.report->ended, launch);
  Port::wake_host(leader.context);
}

}  // namespace gpunvme
