// A leader with 31 helper lanes. Lane 0 polls and decides, as a single thread does; all lanes write commands side by
// side, so that a batch takes the time of its longest PRP list instead of their sum.
//
// Each lane reads its command from the leader's memory. `sync_warp` makes the stores of one lane visible to the others,
// and one fence of lane 0 after it orders all entries before the doorbell.
#pragma once

#include "serve.cuh"
#include "warp.cuh"

namespace gpunvme {

// A work order for all lanes.
struct WarpOrder {
  // Index in leader.pairs.
  uint32_t pair;
  // Number of commands; 0 ends the helpers.
  uint32_t count;
  uint64_t now_ns;
};

GPUNVME_DEVICE uint32_t ahead_by(uint32_t index, uint32_t distance, uint32_t entries) {
  return index + distance < entries ? index + distance : index + distance - entries;
}

template <class Team>
struct WarpCrew {
  // Writes one command per lane.
  template <class Port>
  static GPUNVME_DEVICE void write(Leader& leader, const WarpOrder& order) {
    const uint32_t lane = Team::lane();
    if (lane < order.count) {
      Pair& pair = leader.pairs[order.pair];
      const Active& active = pair.active[pair.served % SHARES];
      const uint32_t slot = pair.free_slots[ahead_by(pair.next_free, lane, pair.slot_count)];
      const uint32_t at = ahead_by(pair.sq_tail, lane, pair.sq_entries);
      write_command<Port>(pair, active.share, active.submitted + lane, slot, at, order.now_ns);
    }
    Team::sync_warp(Team::kAllLanes);
  }

  // Lane 0's part of Alone::stage. It advances the queue only after all lanes have read its position.
  template <class Port>
  static GPUNVME_DEVICE void stage(Leader& leader, Pair& pair, Active& active, uint32_t count, uint64_t now_ns) {
    WarpOrder& order = Team::template shared<WarpOrder>();
    while (count > 0) {
      const uint32_t now = count < Team::kLanes ? count : Team::kLanes;
      order = {static_cast<uint32_t>(&pair - leader.pairs), now, now_ns};
      Team::sync_warp(Team::kAllLanes);
      write<Port>(leader, order);
      for (uint32_t i = 0; i < now; i++) take_slot(pair);
      pair.sq_tail = ahead_by(pair.sq_tail, now, pair.sq_entries);
      active.submitted += now;
      active.in_flight += now;
      pair.in_flight += now;
      count -= now;
    }
    const uint64_t deadline_ns = now_ns + active.share.timeout_ns;
    if (deadline_ns < leader.next_deadline_ns) leader.next_deadline_ns = deadline_ns;
  }

  // The other lanes' part, until lane 0 ends them.
  template <class Port>
  static GPUNVME_DEVICE void assist(Leader& leader) {
    const WarpOrder& order = Team::template shared<WarpOrder>();
    while (true) {
      Team::sync_warp(Team::kAllLanes);
      if (order.count == 0) return;
      write<Port>(leader, order);
    }
  }

  static GPUNVME_DEVICE void dismiss() {
    Team::template shared<WarpOrder>().count = 0;
    Team::sync_warp(Team::kAllLanes);
  }
};

// Like `serve`, by one warp in its own block.
template <class Team, class Port>
GPUNVME_DEVICE void warp_read(Leader& leader, uint64_t launch) {
  using Crew = WarpCrew<Team>;
  if (Team::lane() != 0) return Crew::template assist<Port>(leader);
  serve<Port, Crew>(leader, launch);
  Crew::dismiss();
}

}  // namespace gpunvme
