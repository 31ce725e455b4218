// The loop of a leader: takes shares from the host, submits their commands, and stores one outcome per command. While it runs,
// no other code accesses its queue.
#pragma once

#include "leader.cuh"
#include "owned_port.cuh"
#include "shared_queue.cuh"

namespace gpunvme {

// Turns between reads of the control word, each of which crosses PCIe. Without commands in flight, every turn reads it.
constexpr uint32_t TURNS_BETWEEN_CONTROLS = 16;
// The clock is read after this many empty polls, and after this many turns. The latter detects expired commands under a
// constant flow of completions.
constexpr uint32_t POLLS_BETWEEN_CLOCKS = 64;
constexpr uint32_t TURNS_BETWEEN_CLOCKS = 256;

// A launch of a leader. All lanes of the warp run it together; all members except `earliest_ns_` have the same value in each
// lane. Only the first lane writes the leader's counters and shares; each lane writes the tasks of its commands.
template <class Team, class Port>
class Launch {
  using Owned = OwnedPort<Port>;

 public:
  GPUNVME_DEVICE Launch(Leader& leader, uint64_t number)
      : leader_(leader),
        lanes_(Lanes<Team>::of(Team::kAllLanes)),
        number_(number),
        // The last launch may have seen a pause that has ended meanwhile; a new one must count as a change.
        seen_control_(leader.seen_control & ~CONTROL_PAUSE),
        taken_(leader.taken),
        served_(leader.served),
        in_flight_(leader.in_flight),
        next_deadline_ns_(leader.next_deadline_ns),
        is_halted_(leader.queue.state != GNV_RUNNING || (leader.seen_control & (CONTROL_HALT | CONTROL_LOST)) != 0),
        is_lost_((leader.seen_control & CONTROL_LOST) != 0),
        is_stopping_((leader.seen_control & CONTROL_STOP) != 0) {}

  GPUNVME_DEVICE void run() {
    const uint64_t start_ns = now();
    uint32_t empty_polls = 0;
    uint64_t idle_since_ns = NO_DEADLINE, expired_ns = 0;
    bool is_idle = false;
    for (uint32_t turn = 0;; turn++) {
      const uint32_t consumed = consume<Team, Owned>(leader_.queue, lanes_, *this);
      empty_polls = consumed > 0 ? 0 : empty_polls + 1;
      // Only after all completions that have arrived are consumed: the thread may have been descheduled between polling the
      // queue and reading the clock, and a command must not time out because of that.
      if (in_flight_ > 0 && (is_lost_ || expired_ns > 0)) end_commands(is_lost_ ? NO_DEADLINE : expired_ns);
      expired_ns = 0;

      const bool look_at_control = in_flight_ == 0 || turn % TURNS_BETWEEN_CONTROLS == 0;
      if (look_at_control && read_control() && is_idle) {
        count_idle(-1);
        is_idle = false;
      }
      const uint32_t staged = submit();

      // Also in turns that do not read the clock: the leader lingers after a short command too.
      if (in_flight_ > 0) idle_since_ns = NO_DEADLINE;
      const bool look_at_clock = empty_polls % POLLS_BETWEEN_CLOCKS == POLLS_BETWEEN_CLOCKS - 1 || in_flight_ == 0;
      if (look_at_clock || turn % TURNS_BETWEEN_CLOCKS == 0) {
        const uint64_t now_ns = time();
        if (now_ns >= next_deadline_ns_) expired_ns = now_ns;
        if (turn % TURNS_BETWEEN_CLOCKS == 0 && lanes_.leads()) {
          Port::store_relaxed64(&leader_.report->heartbeat, ++leader_.heartbeat);
        }
        if (in_flight_ == 0) {
          const uint64_t idle_ns = now();
          if (idle_since_ns == NO_DEADLINE) idle_since_ns = idle_ns;
          if (is_stopping_ || is_draining_) break;
          const bool becomes_idle = !is_idle && idle_ns - idle_since_ns >= leader_.linger_ns;
          if (becomes_idle) is_idle = true;
          if (is_idle && count_idle(becomes_idle ? 1 : 0) == leader_.grid->leaders) break;
        } else if (is_draining_) {
          break;
        }
        if (leader_.run_limit_ns != 0 && now() - start_ns >= leader_.run_limit_ns) is_draining_ = true;
      }
      if (consumed == 0 && staged == 0) Port::relax(empty_polls);
    }
    // Counts as idle, so that the other leaders do not wait for this one.
    if (!is_idle) count_idle(1);
    end();
  }

  // Passes the outcomes that lanes have posted to the host. Called by `consume` and `expire`.
  template <class, class>
  GPUNVME_DEVICE void take(const Lanes<Team>&, const Ended& ended) {
    const uint32_t all = Team::ballot(lanes_.mask, ended.is_posted);
    if (all == 0) return;
    uint32_t share = 0;
    if (ended.is_posted) {
      const Task task = leader_.tasks[ended.slot];
      share = task.share;
      Port::store_relaxed64(leader_.active[share % SHARES].share.outcomes + task.index, ended.outcome);
    }
    if (Team::ballot(lanes_.mask, ended.is_posted && ending_of(ended.outcome) == Ending::TIMEOUT) != 0) {
      is_halted_ = true;
      // Before the share is marked as done: a host that sees its outcomes must not post to a halted leader.
      if (lanes_.leads()) Port::store_relaxed64(&leader_.report->halted, 1);
    }
    free_slots<Team, Owned>(leader_.queue, lanes_, ended.is_posted && is_completed(ended.outcome), ended.slot);
    // All lanes have stored their outcomes before the first lane marks a share as done.
    Team::sync_warp(lanes_.mask);
    for (uint32_t left = all; left != 0;) {
      const uint32_t number = Team::shuffle(lanes_.mask, share, lowest_bit(left));
      const uint32_t of_share = Team::ballot(lanes_.mask, ended.is_posted && share == number);
      if (lanes_.leads()) {
        leader_.active[number % SHARES].in_flight -= count_bits(of_share);
        settle(number);
      }
      left &= ~of_share;
    }
    in_flight_ -= count_bits(all);
  }

  GPUNVME_DEVICE void remains(uint64_t deadline_ns) {
    if (deadline_ns < earliest_ns_) earliest_ns_ = deadline_ns;
  }

 private:
  // Returns to all lanes what `load` returns in the first lane.
  template <class Load>
  GPUNVME_DEVICE uint64_t once(const Load& load) const {
    uint64_t value = 0;
    if (lanes_.leads()) value = load();
    return lanes_.share(value);
  }
  GPUNVME_DEVICE uint64_t now() const {
    return once([] { return Port::now_ns(); });
  }
  // Clock for time-outs.
  GPUNVME_DEVICE uint64_t time() const {
    return once([&] { return leader_.clock == nullptr ? Port::now_ns() : Port::load_relaxed64(leader_.clock); });
  }

  // Ends commands with deadlines up to `until_ns`.
  GPUNVME_DEVICE void end_commands(uint64_t until_ns) {
    earliest_ns_ = NO_DEADLINE;
    expire<Team, Owned>(leader_.queue, lanes_, is_lost_ ? Ending::LOST : Ending::TIMEOUT, until_ns, *this);
    next_deadline_ns_ = warp_min<Team>(earliest_ns_);
  }

  // Polls the control word; returns false if it is unchanged.
  GPUNVME_DEVICE bool read_control() {
    // An acquire load invalidates a GPU's L1 cache, so it is done only after a change.
    if (once([&] { return Port::load_relaxed64(leader_.control); }) == seen_control_) return false;
    const uint64_t control = once([&] { return Port::load_acquire64(leader_.control); });
    const auto posted = static_cast<uint32_t>(control & CONTROL_POSTED);
    if (lanes_.leads()) {
      for (uint32_t number = taken_; number != posted; number++) accept(number);
      if (((control ^ seen_control_) & CONTROL_CANCELS) != 0) {
        for (uint32_t number = served_; number != posted; number++) {
          leader_.active[number % SHARES].share.cancelled = Port::load_relaxed64(&leader_.shares[number % SHARES].cancelled);
        }
      }
    }
    Team::sync_warp(lanes_.mask);
    seen_control_ = control;
    taken_ = posted;
    is_stopping_ = (control & CONTROL_STOP) != 0;
    if ((control & CONTROL_PAUSE) != 0) is_draining_ = true;
    if ((control & (CONTROL_HALT | CONTROL_LOST)) != 0) is_halted_ = true;
    is_lost_ = (control & CONTROL_LOST) != 0;
    return true;
  }

  // Copies a share.
  GPUNVME_DEVICE void accept(uint32_t number) {
    const Share& from = leader_.shares[number % SHARES];
    // A separate load: the host may set this word concurrently.
    const uint64_t cancelled = Port::load_relaxed64(&from.cancelled);
    leader_.active[number % SHARES] =
        Active{{from.commands, from.outcomes, from.memory, from.timeout_ns, from.count, from.nsid, from.block_bytes,
                from.opcode, cancelled, 0},
               0, 0, false, false};
  }

  // Submits a command for each free slot, and rings the doorbell once. Returns the number of commands. The batch size adapts
  // to the controller: while the leader submits commands, others complete. If it waited for more free slots, the controller
  // would have fewer commands.
  GPUNVME_DEVICE uint32_t submit() {
    uint32_t staged = 0;
    uint64_t now_ns = 0;
    while (served_ != taken_) {
      Active& active = leader_.active[served_ % SHARES];
      const uint32_t left = is_halted_ || active.share.cancelled != 0 ? 0 : active.share.count - active.submitted;
      if (left > 0 && is_draining_) break;
      if (left > 0) {
        if (staged == 0) now_ns = time();
        const uint32_t got = stage_commands(active, left, now_ns + active.share.timeout_ns);
        if (got == 0) break;
        staged += got;
        continue;
      }
      if (lanes_.leads()) {
        active.closed = true;
        settle(served_);
      }
      served_++;
    }
    if (staged > 0) request_ring<Team, Owned>(leader_.queue, lanes_);
    return staged;
  }

  // Stages up to one command of a share per lane: at most `left`, and at most the number of free slots. Returns the number of
  // commands.
  GPUNVME_DEVICE uint32_t stage_commands(Active& active, uint32_t left, uint64_t deadline_ns) {
    const Share& share = active.share;
    bool wants = lanes_.rank < left;
    Command command = {0, 0, 0, 0};
    if (wants) command = share.commands[active.submitted + lanes_.rank];
    const Submission submission = {share.opcode,   share.nsid,
                                   command.slba,   command.blocks,
                                   static_cast<uint64_t>(command.blocks) * share.block_bytes,
                                   share.memory,   command.offset};
    Flight flight = {0, 0, false};
    const uint32_t got = stage_round<Team, Owned>(leader_.queue, lanes_, submission, wants, flight, deadline_ns);
    // Without a slot, lanes have not met since they read `submitted`.
    if (got == 0) return 0;
    if (flight.waits) leader_.tasks[flight.cid & ((1u << leader_.queue.slot_bits) - 1)] = {served_, command.index};
    if (lanes_.leads()) {
      active.submitted += got;
      active.in_flight += got;
      leader_.commands += got;
    }
    Team::sync_warp(lanes_.mask);
    in_flight_ += got;
    if (deadline_ns < next_deadline_ns_) next_deadline_ns_ = deadline_ns;
    return got;
  }

  // Marks a share as done once it is closed and none of its commands is in flight. The release order makes its outcomes
  // visible before `done`. Called by the first lane.
  GPUNVME_DEVICE void settle(uint32_t number) {
    Active& active = leader_.active[number % SHARES];
    if (!active.closed || active.in_flight > 0 || active.done) return;
    active.done = true;
    publish();
    Port::store_release64(&leader_.shares[number % SHARES].done, 1);
    Port::store_release64(&leader_.report->progress, ++leader_.progress);
    Port::wake_host(leader_.context);
  }

  // Continues a 64-bit sum with a counter that wraps at 2^32.
  static GPUNVME_DEVICE void count_to(uint64_t& sum, uint32_t counter) { sum += counter - static_cast<uint32_t>(sum); }

  GPUNVME_DEVICE void publish() {
    const gnv_queue& queue = leader_.queue;
    count_to(leader_.doorbell_writes, queue.tail_doorbell_writes + queue.head_doorbell_writes);
    count_to(leader_.stale, queue.stale);
    Report* report = leader_.report;
    Port::store_relaxed64(&report->commands, leader_.commands);
    Port::store_relaxed64(&report->doorbell_writes, leader_.doorbell_writes);
    Port::store_relaxed64(&report->stale, leader_.stale);
  }

  // Adds `change` (1, 0 or -1) to the number of idle leaders of this launch, and returns the sum. Once all leaders are idle, the
  // number no longer changes, and all of them end.
  GPUNVME_DEVICE uint32_t count_idle(int32_t change) {
    uint32_t sum = 0;
    if (lanes_.leads()) sum = add_idle(change);
    return lanes_.share(sum);
  }

  GPUNVME_DEVICE uint32_t add_idle(int32_t change) {
    Grid& grid = *leader_.grid;
    for (uint64_t seen = Port::load_relaxed64(&grid.idle);;) {
      const bool is_first = static_cast<uint32_t>(seen >> 32) != static_cast<uint32_t>(number_);
      const uint32_t idle = is_first ? 0 : static_cast<uint32_t>(seen);
      if (idle == grid.leaders || change == 0) return idle;
      const uint32_t now = idle + static_cast<uint32_t>(change);
      const uint64_t before = Port::cas64_gpu(&grid.idle, seen, number_ << 32 | now);
      if (before == seen) return now;
      seen = before;
    }
  }

  // Keeps the state for the next launch, and reports the end of this one.
  GPUNVME_DEVICE void end() {
    if (!lanes_.leads()) return;
    release_completions<Owned>(leader_.queue);
    leader_.seen_control = seen_control_;
    leader_.taken = taken_;
    leader_.served = served_;
    leader_.in_flight = in_flight_;
    leader_.next_deadline_ns = next_deadline_ns_;
    publish();
    Port::store_relaxed64(&leader_.report->in_flight, in_flight_);
    Port::store_release64(&leader_.report->ended, number_);
    Port::wake_host(leader_.context);
  }

  Leader& leader_;
  const Lanes<Team> lanes_;
  const uint64_t number_;
  uint64_t seen_control_;
  uint32_t taken_, served_, in_flight_;
  uint64_t next_deadline_ns_;
  bool is_halted_, is_lost_, is_stopping_;
  // No commands are submitted until the next launch.
  bool is_draining_ = false;
  // Earliest deadline of the commands that this lane has checked.
  uint64_t earliest_ns_ = NO_DEADLINE;
};

// Serves the queue until all leaders of the grid have had no work for `linger_ns`, the host sets stop or pause, or
// `run_limit_ns` has passed. After a pause or at the limit, commands may still be in flight: the next launch continues
// with them, so that a command that never completes does not keep a kernel running. `launch` counts the calls for this leader,
// which do not overlap.
template <class Team, class Port>
GPUNVME_DEVICE void serve(Leader& leader, uint64_t launch) {
  Launch<Team, Port>(leader, launch).run();
}

}  // namespace gpunvme
