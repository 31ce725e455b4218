#include "leader_memory.h"

#include <algorithm>

#include "leader.cuh"
#include "run_table.h"

namespace gpunvme {

namespace {

// Assigns offsets in a block, from its start.
class Offsets {
 public:
  template <typename T>
  uint64_t Take(size_t count) {
    const uint64_t at = (used_ + alignof(T) - 1) / alignof(T) * alignof(T);
    used_ = at + count * sizeof(T);
    return at;
  }
  size_t used() const { return used_; }

 private:
  uint64_t used_ = 0;
};

// Initializes a queue at its positions; its arrays are in memory of this process. Command identifiers continue, so that a late
// completion does not match a new command: the first command of a slot gets the identifier after the one in the slot's outcome.
void InitQueue(const QueueLayout& from, gnv_queue* queue) {
  queue->entries = from.entries;
  queue->slot_count = from.in_flight;
  gnv_init_queue(queue);
  for (uint32_t slot = 0; slot < from.in_flight; slot++) {
    const uint32_t last = from.generations[slot] - 1u;
    const uint32_t cid = (last << queue->slot_bits | slot) & 0xffff;
    queue->slots[slot].outcome = GNV_TAKEN | static_cast<uint64_t>(cid) << GNV_CID_SHIFT;
  }
  queue->sq_ticket = queue->sq_tail = from.sq_tail;
  // The Phase Tag of a lap is the inverse of the position's bit `entries`.
  queue->cq_head = queue->cq_released = from.cq_head + (from.phase == 1 ? 0 : from.entries);
}

}  // namespace

void LeaderMemory::Place(const std::vector<QueueLayout>& queues) {
  Offsets local, shared;
  leaders_ = local.Take<Leader>(queues.size());
  grids_ = local.Take<Grid>(queues.size());
  reports_ = shared.Take<Report>(queues.size());
  first_doorbell_ = ~0ULL;
  doorbells_end_ = 0;
  places_.clear();
  for (const QueueLayout& queue : queues) {
    Places& places = places_.emplace_back();
    places.slots = local.Take<gnv_slot>(queue.in_flight);
    places.active = local.Take<Active>(SHARES);
    places.tasks = local.Take<Task>(queue.in_flight);
    places.ready = local.Take<uint32_t>(queue.entries);
    places.free_slots = local.Take<uint32_t>(queue.entries);
    places.shares = shared.Take<Share>(SHARES);
    // On its own cache line, since the leader polls it.
    places.control = shared.Take<Share>(1);
    for (const uint64_t doorbell : {queue.tail_doorbell, queue.head_doorbell}) {
      first_doorbell_ = std::min(first_doorbell_, doorbell);
      doorbells_end_ = std::max(doorbells_end_, doorbell + sizeof(uint32_t));
    }
  }
  if (options_.forwards_doorbells) words_ = shared.Take<uint32_t>((doorbells_end_ - first_doorbell_) / sizeof(uint32_t));
  shared_bytes_ = shared.used();
  local_bytes_ = local.used();
}

Problem LeaderMemory::Reach(const Memory& memory, const char* what, bool is_registers, uint64_t* device) {
  if (memory.on_device) {
    *device = memory.address;
    return {};
  }
  if (Problem problem = executor_.Reach(memory.address, memory.bytes, is_registers, device)) {
    problem.what = what;
    problem.address = memory.address;
    problem.bytes = memory.bytes;
    return problem;
  }
  reached_.push_back(memory.address);
  return {};
}

Problem LeaderMemory::Fill(const Memory& registers, bool are_memory, const std::vector<QueueLayout>& queues) {
  if (Problem problem = executor_.AllocateShared(shared_bytes_, &shared_)) return problem;
  if (Problem problem = executor_.AllocateLocal(local_bytes_, &local_)) return problem;
  // Forwarded doorbells are words with the same spacing.
  uint64_t doorbells = shared_.device + words_;
  if (!options_.forwards_doorbells) {
    const Memory used = {registers.address + first_doorbell_, doorbells_end_ - first_doorbell_, registers.on_device};
    if (Problem problem = Reach(used, "doorbells", !are_memory, &doorbells)) return problem;
  }
  uint64_t clock = 0;
  if (options_.clock != 0) {
    if (Problem problem = Reach({options_.clock, sizeof(uint64_t), false}, "a clock", false, &clock)) return problem;
  }
  std::vector<uint8_t> image(local_bytes_);
  for (size_t number = 0; number < queues.size(); number++) {
    Problem problem = FillLeader(number, queues[number], doorbells - first_doorbell_, clock, image.data());
    if (problem) return problem;
  }
  return executor_.Upload(local_, image.data(), image.size());
}

Problem LeaderMemory::FillLeader(size_t number, const QueueLayout& from, uint64_t bar, uint64_t clock, uint8_t* image) {
  const Places& places = places_[number];
  auto& leader = *reinterpret_cast<Leader*>(image + leaders_ + number * sizeof(Leader));
  gnv_queue& queue = leader.queue;
  queue.slots = reinterpret_cast<gnv_slot*>(image + places.slots);
  queue.ready = reinterpret_cast<uint32_t*>(image + places.ready);
  queue.free_slots = reinterpret_cast<uint32_t*>(image + places.free_slots);
  InitQueue(from, &queue);
  queue.slots = Pointer<gnv_slot>(local_ + places.slots);
  queue.ready = Pointer<uint32_t>(local_ + places.ready);
  queue.free_slots = Pointer<uint32_t>(local_ + places.free_slots);
  uint64_t sq = 0, cq = 0, lists = 0;
  if (Problem problem = Reach(from.sq, "a submission queue", false, &sq)) return problem;
  if (Problem problem = Reach(from.cq, "a completion queue", false, &cq)) return problem;
  if (Problem problem = Reach(from.prp_lists, "PRP lists", false, &lists)) return problem;
  queue.sq = Pointer<void>(sq);
  queue.cq = Pointer<const uint64_t>(cq);
  queue.tail_doorbell = Pointer<uint32_t>(bar + from.tail_doorbell);
  queue.head_doorbell = Pointer<uint32_t>(bar + from.head_doorbell);
  queue.prp_lists = Pointer<uint64_t>(lists);
  queue.prp_list_runs = from.prp_list_runs->runs();
  queue.qid = from.qid;
  queue.prp_list_bytes = from.prp_list_bytes;
  queue.page_bytes = from.page_bytes;

  leader.shares = Pointer<Share>(shared_.device + places.shares);
  leader.control = Pointer<const uint64_t>(shared_.device + places.control);
  leader.report = Pointer<Report>(shared_.device + reports_) + number;
  leader.active = Pointer<Active>(local_ + places.active);
  leader.tasks = Pointer<Task>(local_ + places.tasks);
  leader.clock = Pointer<const uint64_t>(clock);
  leader.context = context_;
  leader.linger_ns = options_.linger_ns;
  leader.run_limit_ns = options_.run_limit_ns;
  leader.taken = leader.served = options_.first_share;
  *shared(number).control = leader.seen_control = options_.first_share;
  leader.next_deadline_ns = NO_DEADLINE;
  // One grid for all leaders, or one for each.
  const bool is_together = executor_.LaunchesTogether();
  const uint64_t grid = grids_ + (is_together ? 0 : number * sizeof(Grid));
  leader.grid = Pointer<Grid>(local_ + grid);
  reinterpret_cast<Grid*>(image + grid)->leaders = is_together ? static_cast<uint32_t>(places_.size()) : 1;
  return {};
}

Problem LeaderMemory::Forward(const Memory& registers, const std::vector<QueueLayout>& queues, DoorbellProxy* proxy) const {
  if (!options_.forwards_doorbells) return {};
  std::vector<DoorbellProxy::Doorbell> tails, heads;
  const auto forward = [&](std::vector<DoorbellProxy::Doorbell>& doorbells, uint64_t offset, uint32_t value) {
    auto* word = reinterpret_cast<uint32_t*>(shared_.host + words_ + offset - first_doorbell_);
    *word = value;
    doorbells.push_back({word, Pointer<uint32_t>(registers.address + offset), value});
  };
  for (const QueueLayout& queue : queues) {
    forward(heads, queue.head_doorbell, queue.cq_head);
    forward(tails, queue.tail_doorbell, queue.sq_tail);
  }
  return proxy->Start(std::move(tails), std::move(heads));
}

SharedState LeaderMemory::shared(size_t number) const {
  const Places& places = places_[number];
  return {reinterpret_cast<Report*>(shared_.host + reports_) + number, reinterpret_cast<Share*>(shared_.host + places.shares),
          reinterpret_cast<uint64_t*>(shared_.host + places.control)};
}

uint64_t LeaderMemory::leader(size_t number) const { return local_ + leaders_ + number * sizeof(Leader); }

Problem LeaderMemory::ReadPositions(std::vector<QueueLayout>* queues) const {
  for (size_t number = 0; number < queues->size(); number++) {
    QueueLayout& to = (*queues)[number];
    Leader leader;
    std::vector<gnv_slot> slots(to.in_flight);
    if (Problem problem = executor_.Download(&leader, this->leader(number), sizeof leader)) return problem;
    Problem problem = executor_.Download(slots.data(), local_ + places_[number].slots, slots.size() * sizeof(gnv_slot));
    if (problem) return problem;
    const gnv_queue& queue = leader.queue;
    to.sq_tail = queue.sq_tail & (to.entries - 1);
    to.cq_head = queue.cq_head & (to.entries - 1);
    to.phase = (queue.cq_head & to.entries) == 0 ? 1 : 0;
    for (uint32_t slot = 0; slot < to.in_flight; slot++) {
      const auto cid = static_cast<uint16_t>(slots[slot].outcome >> GNV_CID_SHIFT);
      to.generations[slot] = static_cast<uint16_t>(((cid >> queue.slot_bits) + 1) & (0xffff >> queue.slot_bits));
    }
  }
  return {};
}

void LeaderMemory::Free() {
  for (const uint64_t address : reached_) executor_.Forget(address);
  reached_.clear();
  if (local_ != 0) executor_.FreeLocal(local_);
  if (shared_.host != nullptr) executor_.FreeShared(shared_);
  local_ = 0;
  shared_ = {};
}

}  // namespace gpunvme
