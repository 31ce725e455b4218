// Submits commands: builds entries in registers, stores them whole, and announces a batch by one doorbell.
#pragma once

#include "entry.cuh"
#include "slots.cuh"

namespace gpunvme {

// Releases consumed completion queue entries to the controller.
template <class Port>
GPUNVME_DEVICE void release_completions(Leader& leader) {
  if (leader.unreleased == 0) return;
  Port::mmio_store32(leader.head_doorbell, leader.cq_head);
  leader.unreleased = 0;
  leader.doorbell_writes++;
}

// Writes command `number` of the share being served to entry `at` of the queue, in `slot`.
template <class Port>
GPUNVME_DEVICE void write_command(Pair& pair, const Share& share, uint32_t number, uint32_t slot, uint32_t at,
                                  uint64_t now_ns) {
  const Command command = share.commands[number];
  Slot& place = pair.slots[slot];
  const uint64_t bytes = static_cast<uint64_t>(command.blocks) * share.block_bytes;
  Entry entry = {share.opcode, cid_of(pair, slot, place.generation), share.nsid, {0, 0}, command.slba, command.blocks};
  if (bytes > 0) entry.prps = lay_prps<Port>(pair, share.memory, command.offset, bytes, slot);
  store_entry<Port>(pair.sq + 4 * at, entry);
  place.share = pair.served;
  place.index = command.index;
  place.deadline_ns = now_ns + share.timeout_ns;
}

// Writes commands by the leader's own thread. WarpCrew of warp_read.cuh is the alternative.
struct Alone {
  // Writes the next `count` commands of a share to the next entries of the queue. `count` slots must be free.
  template <class Port>
  static GPUNVME_DEVICE void stage(Leader& leader, Pair& pair, Active& active, uint32_t count, uint64_t now_ns) {
    while (count-- > 0) {
      const uint32_t slot = take_slot(pair);
      write_command<Port>(pair, active.share, active.submitted++, slot, pair.sq_tail, now_ns);
      pair.sq_tail = advance(pair.sq_tail, pair.sq_entries);
      if (pair.slots[slot].deadline_ns < leader.next_deadline_ns) leader.next_deadline_ns = pair.slots[slot].deadline_ns;
      active.in_flight++;
      pair.in_flight++;
    }
  }
};

template <class Port>
GPUNVME_DEVICE void publish(const Leader& leader) {
  Report* report = leader.report;
  Port::store_relaxed64(&report->commands, leader.commands);
  Port::store_relaxed64(&report->doorbell_writes, leader.doorbell_writes);
  Port::store_relaxed64(&report->stale, leader.stale);
}

// Marks a share as done once it is closed and none of its commands is in flight. The release order makes its outcomes
// visible before `done`.
template <class Port>
GPUNVME_DEVICE void settle(Leader& leader, Pair& pair, uint32_t number) {
  Active& active = pair.active[number % SHARES];
  if (!active.closed || active.in_flight > 0 || active.done) return;
  active.done = true;
  publish<Port>(leader);
  Port::store_release64(&pair.shares[number % SHARES].done, 1);
  Port::store_release64(&leader.report->progress, ++leader.progress);
  Port::wake_host(leader.context);
}

// Submits a command for each free slot, and rings the doorbell once. Returns the number of commands. The batch size adapts to
// the controller: while the leader submits commands, others complete. Waiting for more slots would leave it fewer commands.
template <class Port, class Crew>
GPUNVME_DEVICE uint32_t submit(Leader& leader, Pair& pair) {
  uint32_t staged = 0;
  uint64_t now_ns = 0;
  while (pair.served != pair.taken) {
    Active& active = pair.active[pair.served % SHARES];
    const uint32_t left = leader.halted || active.share.cancelled != 0 ? 0 : active.share.count - active.submitted;
    if (left == 0) {
      active.closed = true;
      settle<Port>(leader, pair, pair.served++);
      continue;
    }
    if (pair.free_count == 0 || leader.draining) break;
    if (staged == 0) now_ns = time_of<Port>(leader);
    const uint32_t count = pair.free_count < left ? pair.free_count : left;
    staged += count;
    Crew::template stage<Port>(leader, pair, active, count, now_ns);
  }
  if (staged == 0) return 0;
  leader.commands += staged;
  Port::fence();
  Port::mmio_store32(pair.tail_doorbell, pair.sq_tail);
  leader.doorbell_writes++;
  return staged;
}

}  // namespace gpunvme
