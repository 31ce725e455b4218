#include "session.h"

#include <sched.h>
#include <time.h>

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "checks.h"
#include "pair.cuh"
#include "run_table.h"

namespace gpunvme {

namespace {

// An executor may return an error once and then recover. If it returns only errors for this long, the state of leaders
// is unknowable.
constexpr uint64_t kBrokenNs = 200'000'000;
// NLB has 16 bits and is 0's based.
constexpr uint32_t kMaxBlocks = 65536;
// 2^53.
constexpr double kEndOfIntegers = 9007199254740992.0;

uint64_t NowNs() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1000000000 + static_cast<uint64_t>(now.tv_nsec);
}

// Access to words that leaders access concurrently.
uint64_t Load(const uint64_t* word) { return __atomic_load_n(word, __ATOMIC_ACQUIRE); }
void Store(uint64_t* word, uint64_t value) { __atomic_store_n(word, value, __ATOMIC_RELEASE); }

template <typename T>
T* Pointer(uint64_t device) {
  return reinterpret_cast<T*>(static_cast<uintptr_t>(device));
}

// Assigns offsets in a block, from its start.
class Places {
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

}  // namespace

// The host's state of a submission queue.
struct Session::Queue {
  Led* led = nullptr;
  uint64_t* control = nullptr;
  Share* shares = nullptr;
  // Number of shares ever posted; all before `oldest` are done.
  uint32_t posted = 0;
  uint32_t oldest = 0;
  // Offsets of the device's state in the image.
  uint64_t pair = 0;
  uint64_t slots = 0;
  // Maximum bytes of one command.
  uint64_t reach = 0;

  // Shares before `oldest` are done; their places in the ring may have been reused.
  bool IsDone(uint32_t number) const {
    return static_cast<int32_t>(number - oldest) < 0 || Load(&shares[number % SHARES].done) != 0;
  }

  bool HasRoom() {
    while (oldest != posted && IsDone(oldest)) oldest++;
    return posted - oldest < SHARES;
  }
};

// The host's state of a leader.
struct Session::Led {
  unsigned number = 0;
  // Number of launches of its group.
  const uint64_t* launches = nullptr;
  Report* report = nullptr;
  // Offset in the image.
  uint64_t leader = 0;
  // For Watch: last progress value, and number of calls without a change.
  uint64_t sign = 0;
  uint32_t silent = 0;
  std::vector<std::unique_ptr<Queue>> queues;

  bool HasEnded() const { return Load(&report->ended) == *launches; }
  // Whether its last launch, which has ended, left commands in flight for the next one.
  bool HasLeft() const { return Load(&report->in_flight) != 0; }
  bool HasWork() const {
    return std::any_of(queues.begin(), queues.end(), [](const auto& queue) { return queue->HasRoom(), queue->oldest != queue->posted; });
  }
};

// Leaders that one launch starts.
struct Session::Group {
  std::vector<Led*> leaders;
  // Offset in the image.
  uint64_t grid = 0;
  uint64_t launches = 0;

  template <typename Condition>
  bool Any(Condition condition) const {
    return std::any_of(leaders.begin(), leaders.end(), [&](const Led* led) { return condition(*led); });
  }
  bool HasEnded() const {
    return !Any([](const Led& led) { return !led.HasEnded(); });
  }
};

// A posted plan.
struct Session::Job {
  struct Part {
    Queue* queue;
    uint32_t number;
  };
  uint32_t id = 0;
  uint32_t block_bytes = 0;
  uint64_t timeout_ns = 0;
  std::vector<uint32_t> blocks;
  std::vector<Part> parts;
  std::shared_ptr<RunTable> memory;
  SharedBlock outcomes;
  uint64_t commands = 0;

  bool IsDone() const {
    return std::all_of(parts.begin(), parts.end(), [](const Part& part) { return part.queue->IsDone(part.number); });
  }
};

Session::Session(std::shared_ptr<Executor> executor, SessionOptions options, void* context)
    : executor_(std::move(executor)), options_(options), context_(context) {
  executor_->Serves(this);
}

Session::~Session() {
  if (!abandoned_ && executor_->Join()) Abandon();
  executor_->Serves(nullptr);
  if (!abandoned_) Release();
  if (!abandoned_ && executor_->End()) return;
  // Leaked: threads or kernels and their memory stay until the process ends.
  static_cast<void>(new std::shared_ptr<Executor>(std::move(executor_)));
}

// Memory grows only while no plan is posted: growing may wait for leaders to end.
Problem Session::MakeRoom(size_t shared, size_t local, bool* made) {
  *made = false;
  if (abandoned_) return Abandoned();
  *made = executor_->HasRoom(shared, local);
  if (*made || !jobs_.empty()) return {};
  *made = true;
  return executor_->Grow(shared, local);
}

Problem Session::Describe(std::vector<uint64_t> iovas, uint32_t shift, uint64_t bytes, std::shared_ptr<RunTable>* table) {
  const uint64_t runs = bytes == 0 ? 0 : ((bytes - 1) >> shift) + 1;
  if (runs == 0 || iovas.size() < runs) {
    return Problem::Invalid("iovas: expected one per run of nonempty memory, got " +
                            std::to_string(iovas.size()) + " for " + std::to_string(bytes) + " bytes");
  }
  bool room = false;
  if (Problem problem = MakeRoom(0, iovas.size() * sizeof(uint64_t), &room); problem || !room) return problem;
  auto made = std::make_shared<RunTable>(executor_);
  if (Problem problem = made->Fill(iovas, shift, bytes)) return problem;
  *table = std::move(made);
  return {};
}

Problem Session::Attach(Memory registers, bool are_memory, std::vector<LeaderLayout> layouts) {
  if (attached()) return Problem::Invalid("this engine has queues: detach them first");
  if (std::string wrong = ProblemOf(registers, layouts); !wrong.empty()) return Problem::Invalid(std::move(wrong));
  for (const LeaderLayout& layout : layouts) {
    for (const PairLayout& pair : layout.pairs) {
      if (!pair.prp_list_runs->IsOf(executor_)) return Problem::Invalid("prpListRuns: expected a table of this engine");
    }
  }
  // Assigns all offsets first: leaders get addresses in their own memory.
  Places local, shared;
  std::vector<std::unique_ptr<Led>> leaders;
  std::vector<std::unique_ptr<Group>> groups;
  const uint64_t structures = local.Take<Leader>(layouts.size()), reports = shared.Take<Report>(layouts.size());
  for (size_t number = 0; number < layouts.size(); number++) {
    auto led = std::make_unique<Led>();
    led->number = static_cast<unsigned>(number);
    if (groups.empty() || !executor_->LaunchesTogether()) {
      groups.push_back(std::make_unique<Group>());
      groups.back()->grid = local.Take<Grid>(1);
    }
    groups.back()->leaders.push_back(led.get());
    led->launches = &groups.back()->launches;
    led->leader = structures + number * sizeof(Leader);
    led->report = Pointer<Report>(reports + number * sizeof(Report));
    const uint64_t pairs = local.Take<Pair>(layouts[number].pairs.size());
    for (size_t index = 0; index < layouts[number].pairs.size(); index++) {
      auto queue = std::make_unique<Queue>();
      queue->led = led.get();
      queue->pair = pairs + index * sizeof(Pair);
      queue->slots = local.Take<Slot>(layouts[number].pairs[index].in_flight);
      queue->reach = ReachOf(layouts[number].pairs[index]);
      queue->shares = Pointer<Share>(shared.Take<Share>(SHARES));
      // On its own cache line, since the leader polls it.
      queue->control = Pointer<uint64_t>(shared.Take<Share>(1));
      led->queues.push_back(std::move(queue));
    }
    leaders.push_back(std::move(led));
  }
  // Only the range of their doorbells is made accessible to leaders.
  uint64_t first = ~0ULL, end = 0;
  const auto includes = [&](uint64_t doorbell) {
    first = std::min(first, doorbell);
    end = std::max(end, doorbell + sizeof(uint32_t));
  };
  for (const LeaderLayout& layout : layouts) {
    includes(layout.head_doorbell);
    for (const PairLayout& pair : layout.pairs) includes(pair.tail_doorbell);
  }
  // Words for leaders that cannot write registers, at the same distances as the doorbells.
  const uint64_t rung = options_.forwards_doorbells ? shared.Take<Share>((end - first + sizeof(Share) - 1) / sizeof(Share)) : 0;
  const auto fail = [this](Problem problem) {
    Release();
    return problem;
  };
  std::vector<uint64_t> rings, actives;
  for (const LeaderLayout& layout : layouts) {
    for (const PairLayout& pair : layout.pairs) {
      rings.push_back(local.Take<uint32_t>(pair.in_flight));
      actives.push_back(local.Take<Active>(SHARES));
    }
  }
  bool room = false;
  if (Problem problem = MakeRoom(shared.used(), local.used(), &room)) return fail(problem);
  leaders_ = std::move(leaders);
  groups_ = std::move(groups);
  if (Problem problem = executor_->AllocateShared(shared.used(), &shared_)) return fail(problem);
  if (Problem problem = executor_->AllocateLocal(local.used(), &local_)) return fail(problem);
  const auto reach = [this](const Memory& memory, const char* what, bool is_registers, uint64_t* device) -> Problem {
    if (memory.on_device) {
      *device = memory.address;
      return {};
    }
    if (Problem problem = executor_->Reach(memory.address, memory.bytes, is_registers, device)) {
      problem.what = what;
      problem.address = memory.address;
      problem.bytes = memory.bytes;
      return problem;
    }
    reached_.push_back(memory.address);
    return {};
  };
  uint64_t doorbells = shared_.device + rung;
  if (!options_.forwards_doorbells) {
    const Memory used = {registers.address + first, end - first, registers.on_device};
    if (Problem problem = reach(used, "doorbells", !are_memory, &doorbells)) return fail(problem);
  }
  const uint64_t bar = doorbells - first;
  uint64_t clock = 0;
  if (options_.clock != 0) {
    if (Problem problem = reach({options_.clock, sizeof(uint64_t), false}, "a clock", false, &clock)) return fail(problem);
  }

  std::vector<uint8_t> image(local.used());
  // Converts an offset in shared memory to the host's pointer, and returns the device's address.
  const auto host_of = [this](auto*& at) {
    const auto offset = reinterpret_cast<uintptr_t>(at);
    at = reinterpret_cast<std::remove_reference_t<decltype(at)>>(shared_.host + offset);
    return shared_.device + offset;
  };
  for (const auto& group : groups_) {
    const uint64_t grid = group->grid;
    reinterpret_cast<Grid*>(image.data() + grid)->leaders = static_cast<uint32_t>(group->leaders.size());
    for (const Led* led : group->leaders) reinterpret_cast<Leader*>(image.data() + led->leader)->grid = Pointer<Grid>(local_ + grid);
  }
  size_t ordinal = 0;
  for (auto& led : leaders_) {
    const LeaderLayout& layout = layouts[led->number];
    auto* leader = reinterpret_cast<Leader*>(image.data() + led->leader);
    leader->report = Pointer<Report>(host_of(led->report));
    leader->pairs = Pointer<Pair>(local_ + led->queues.front()->pair);
    leader->head_doorbell = Pointer<uint32_t>(bar + layout.head_doorbell);
    leader->clock = Pointer<const uint64_t>(clock);
    leader->context = context_;
    leader->linger_ns = options_.linger_ns;
    leader->run_limit_ns = options_.run_limit_ns;
    leader->pair_count = static_cast<uint32_t>(layout.pairs.size());
    leader->cq_entries = layout.cq_entries;
    leader->cq_head = layout.cq_head;
    leader->phase = layout.phase;
    leader->next_deadline_ns = NO_DEADLINE;
    uint64_t cq = 0;
    if (Problem problem = reach(layout.cq, "a completion queue", false, &cq)) return fail(problem);
    leader->cq = Pointer<const uint64_t>(cq);
    for (size_t index = 0; index < layout.pairs.size(); index++, ordinal++) {
      const PairLayout& from = layout.pairs[index];
      Queue& queue = *led->queues[index];
      auto* pair = reinterpret_cast<Pair*>(image.data() + queue.pair);
      uint64_t sq = 0, lists = 0;
      if (Problem problem = reach(from.sq, "a submission queue", false, &sq)) return fail(problem);
      if (Problem problem = reach(from.prp_lists, "PRP lists", false, &lists)) return fail(problem);
      pair->sq = Pointer<Quad>(sq);
      pair->tail_doorbell = Pointer<uint32_t>(bar + from.tail_doorbell);
      pair->prp_lists = Pointer<uint64_t>(lists);
      pair->prp_list_runs = from.prp_list_runs->runs();
      pair->prp_list_bytes = from.prp_list_bytes;
      pair->page_bytes = from.page_bytes;
      pair->slots = Pointer<Slot>(local_ + queue.slots);
      pair->free_slots = Pointer<uint32_t>(local_ + rings[ordinal]);
      pair->shares = Pointer<Share>(host_of(queue.shares));
      pair->control = Pointer<const uint64_t>(host_of(queue.control));
      pair->active = Pointer<Active>(local_ + actives[ordinal]);
      pair->qid = from.qid;
      pair->sq_entries = from.sq_entries;
      pair->slot_count = from.in_flight;
      pair->slot_bits = from.slot_bits;
      pair->sq_tail = from.sq_tail;
      pair->free_count = from.in_flight;
      queue.posted = queue.oldest = pair->taken = pair->served = options_.first_share;
      *queue.control = pair->seen_control = options_.first_share;
      auto* slots = reinterpret_cast<Slot*>(image.data() + queue.slots);
      auto* ring = reinterpret_cast<uint32_t*>(image.data() + rings[ordinal]);
      for (uint32_t slot = 0; slot < from.in_flight; slot++) {
        slots[slot].generation = from.generations[slot];
        ring[slot] = slot;
      }
      queues_.push_back(&queue);
    }
  }
  if (Problem problem = executor_->Upload(local_, image.data(), image.size())) return fail(problem);
  if (options_.forwards_doorbells) {
    std::vector<DoorbellProxy::Doorbell> tails, heads;
    const auto forward = [&](std::vector<DoorbellProxy::Doorbell>& doorbells, uint64_t offset, uint32_t value) {
      auto* word = reinterpret_cast<uint32_t*>(shared_.host + rung + offset - first);
      *word = value;
      doorbells.push_back({word, Pointer<uint32_t>(registers.address + offset), value});
    };
    for (const LeaderLayout& layout : layouts) {
      forward(heads, layout.head_doorbell, layout.cq_head);
      for (const PairLayout& pair : layout.pairs) forward(tails, pair.tail_doorbell, pair.sq_tail);
    }
    if (Problem problem = proxy_.Start(std::move(tails), std::move(heads))) return fail(problem);
  }
  ready_ = true;
  return {};
}

// The commands of a plan, grouped by queue, each group in the plan's order.
struct Session::Sorted {
  std::vector<Command> commands;
  // Index of the first command of each queue, followed by the total number of commands.
  std::vector<uint32_t> first;
  // In the plan's order.
  std::vector<uint32_t> blocks;
  bool has_room = true;
};

// Copies a plan and validates the copy.
Problem Session::Sort(const Plan& plan, uint64_t memory_bytes, Sorted* sorted) const {
  const auto wrong = [](uint32_t command, const char* expected, double got) {
    char text[160];
    std::snprintf(text, sizeof text, "plan command %u: expected %s, got %.0f", command, expected, got);
    return Problem::Invalid(text);
  };
  if (plan.commands == 0) return Problem::Invalid("plan.commands: expected 1 or more, got 0");
  const std::vector<uint16_t> queue(plan.queue, plan.queue + plan.commands);
  std::vector<uint32_t>& first = sorted->first;
  first.assign(queues_.size() + 1, 0);
  for (uint32_t at = 0; at < plan.commands; at++) {
    if (queue[at] >= queues_.size()) return wrong(at, "a queue of this engine", queue[at]);
    first[queue[at] + 1]++;
  }
  for (size_t index = 0; index < queues_.size(); index++) {
    if (first[index + 1] > 0 && !queues_[index]->HasRoom()) sorted->has_room = false;
    first[index + 1] += first[index];
  }
  if (!sorted->has_room) return {};
  sorted->blocks.assign(plan.blocks, plan.blocks + plan.commands);
  sorted->commands.resize(plan.commands);
  std::vector<uint32_t> next(first.begin(), first.end() - 1);
  uint64_t reach = ~0ULL;
  for (const Queue* each : queues_) reach = std::min(reach, each->reach);
  const auto memory_end = static_cast<double>(memory_bytes);
  for (uint32_t at = 0; at < plan.commands; at++) {
    const double slba = plan.slba[at], offset = plan.offset[at];
    const uint32_t blocks = sorted->blocks[at];
    const uint64_t bytes = static_cast<uint64_t>(blocks) * plan.block_bytes;
    if (blocks > kMaxBlocks) return wrong(at, "at most 65536 blocks", blocks);
    if (!(slba >= 0 && slba < kEndOfIntegers)) return wrong(at, "an LBA below 2^53", slba);
    if (bytes > reach && bytes > queues_[queue[at]]->reach) {
      return wrong(at, "no more bytes than its PRP list can describe", static_cast<double>(bytes));
    }
    if (!(offset >= 0 && offset + static_cast<double>(bytes) <= memory_end)) {
      return wrong(at, "an offset inside the memory", offset);
    }
    sorted->commands[next[queue[at]]++] = {static_cast<uint64_t>(slba), static_cast<uint64_t>(offset), blocks, at};
  }
  return {};
}

Problem Session::Post(uint32_t id, const Plan& plan, std::shared_ptr<RunTable> memory, bool* posted) {
  *posted = false;
  if (abandoned_) return Abandoned();
  if (!memory->IsOf(executor_)) return Problem::Invalid("table: expected a table of this engine");
  Sorted sorted;
  if (Problem problem = Sort(plan, memory->bytes(), &sorted); problem || !sorted.has_room) return problem;
  const Problem cramped = MakeRoom(plan.commands * sizeof(uint64_t), plan.commands * sizeof(Command), posted);
  if (cramped || !*posted) return cramped;
  const std::vector<uint32_t>& first = sorted.first;
  const std::vector<Command>& commands = sorted.commands;
  auto job = std::make_unique<Job>();
  job->id = id;
  job->block_bytes = plan.block_bytes;
  job->timeout_ns = plan.timeout_ns;
  job->blocks = std::move(sorted.blocks);
  job->memory = std::move(memory);
  if (Problem problem = executor_->AllocateShared(plan.commands * sizeof(uint64_t), &job->outcomes)) return problem;
  Problem problem = executor_->AllocateLocal(plan.commands * sizeof(Command), &job->commands);
  if (!problem) problem = executor_->Upload(job->commands, commands.data(), commands.size() * sizeof(Command));
  if (problem) {
    if (job->commands != 0) executor_->FreeLocal(job->commands);
    executor_->FreeShared(job->outcomes);
    return problem;
  }
  for (size_t index = 0; index < queues_.size(); index++) {
    const uint32_t count = first[index + 1] - first[index];
    if (count == 0) continue;
    Queue& queue = *queues_[index];
    const uint32_t number = queue.posted++;
    queue.shares[number % SHARES] = {Pointer<const Command>(job->commands) + first[index],
                                     Pointer<uint64_t>(job->outcomes.device),
                                     job->memory->runs(),
                                     plan.timeout_ns,
                                     count,
                                     plan.nsid,
                                     plan.block_bytes,
                                     plan.opcode,
                                     0,
                                     0};
    job->parts.push_back({&queue, number});
    const uint64_t control = *queue.control;
    Store(queue.control, (control & ~CONTROL_POSTED) | queue.posted);
  }
  jobs_.push_back(std::move(job));
  executor_->Posted();
  return StartIdle();
}

void Session::Cancel(uint32_t id) {
  for (const auto& job : jobs_) {
    if (job->id != id) continue;
    for (const auto& [queue, number] : job->parts) {
      if (queue->IsDone(number)) continue;
      Store(&queue->shares[number % SHARES].cancelled, 1);
      const uint64_t control = *queue->control;
      Store(queue->control, (control & ~CONTROL_CANCELS) | ((control + CONTROL_CANCEL) & CONTROL_CANCELS));
    }
  }
}

void Session::Halt(bool lost) {
  if (lost) proxy_.Stop(false);
  const uint64_t flags = lost ? CONTROL_HALT | CONTROL_LOST : CONTROL_HALT;
  for (const auto& group : groups_) Raise(*group, flags);
}

void Session::Raise(const Group& group, uint64_t flags) {
  for (const Led* led : group.leaders) {
    for (const auto& queue : led->queues) Store(queue->control, *queue->control | flags);
  }
}

void Session::Lower(const Group& group, uint64_t flags) {
  for (const Led* led : group.leaders) {
    for (const auto& queue : led->queues) Store(queue->control, *queue->control & ~flags);
  }
}

Problem Session::Poll(std::vector<Finished>* finished) {
  if (Problem problem = executor_->Check()) return problem;
  const auto done = [&](std::unique_ptr<Job>& job) {
    if (!job->IsDone()) return false;
    EndJob(job.get(), &finished->emplace_back());
    return true;
  };
  jobs_.erase(std::remove_if(jobs_.begin(), jobs_.end(), done), jobs_.end());
  return StartIdle();
}

// Launches ended leaders that have work: a leader may end just before a plan is posted.
Problem Session::StartIdle() {
  if (paused_) return {};
  for (const auto& group : groups_) {
    const bool waits = group->Any([](const Led& led) { return led.HasEnded() && led.HasWork(); });
    if (!waits) continue;
    if (!group->HasEnded()) {
      // The other leaders may never run out of work.
      Raise(*group, CONTROL_PAUSE);
    } else if (Problem problem = Launch(group.get())) {
      return problem;
    }
  }
  return {};
}

Problem Session::Launch(Group* group) {
  if (!paused_) Lower(*group, CONTROL_PAUSE);
  const Led& first = *group->leaders.front();
  const auto count = static_cast<unsigned>(group->leaders.size());
  // Counted after it succeeded, so that the end of a failed launch is not awaited.
  Problem problem = executor_->Launch({first.number, count, local_ + first.leader, first.report}, group->launches + 1);
  if (!problem) group->launches++;
  return problem;
}

void Session::EndJob(Job* job, Finished* finished) {
  const auto* outcomes = reinterpret_cast<const uint64_t*>(job->outcomes.host);
  *finished = {job->id, 0, 0, {}};
  for (uint32_t at = 0; at < job->blocks.size(); at++) {
    if (outcomes[at] >> OUTCOME_ENDING_SHIFT == static_cast<uint64_t>(Ending::SUCCESS)) {
      finished->succeeded++;
      finished->bytes += static_cast<double>(job->blocks[at]) * job->block_bytes;
    } else {
      finished->failures.push_back({at, outcomes[at]});
    }
  }
  executor_->FreeLocal(job->commands);
  executor_->FreeShared(job->outcomes);
}

bool Session::halted() const {
  return std::any_of(leaders_.begin(), leaders_.end(), [](const auto& led) { return Load(&led->report->halted) != 0; });
}

uint64_t Session::Heartbeat() const {
  uint64_t sum = 0;
  for (const auto& led : leaders_) sum += Load(&led->report->heartbeat) + Load(&led->report->progress) + Load(&led->report->ended);
  return sum;
}

uint32_t Session::Watch() {
  uint32_t most = 0;
  for (const auto& group : groups_) {
    // Also of others: they may wait for a leader without work to end.
    const bool has_work = group->Any([](const Led& led) { return led.HasWork(); });
    for (Led* led : group->leaders) {
      // All of them only increase.
      const uint64_t sign = Load(&led->report->heartbeat) + Load(&led->report->progress) + Load(&led->report->ended);
      const bool silent = sign == led->sign && !led->HasEnded() && has_work;
      led->silent = silent ? led->silent + 1 : 0;
      led->sign = sign;
      most = std::max(most, led->silent);
    }
  }
  return most;
}

void Session::Pause() {
  paused_ = true;
  if (!ready_) return;
  for (const auto& group : groups_) Raise(*group, CONTROL_PAUSE);
}

bool Session::HaveEnded() const {
  return !ready_ || std::all_of(groups_.begin(), groups_.end(), [](const auto& group) { return group->HasEnded(); });
}

void Session::Resume() {
  paused_ = false;
  if (!ready_) return;
  for (const auto& group : groups_) Lower(*group, CONTROL_PAUSE);
  // A failed launch is retried by Poll, which reports the failure.
  static_cast<void>(StartIdle());
}

Counters Session::counters() const {
  Counters sum = past_;
  for (const auto& led : leaders_) {
    sum.commands += Load(&led->report->commands);
    sum.doorbell_writes += Load(&led->report->doorbell_writes);
    sum.stale += Load(&led->report->stale);
  }
  return sum;
}

Problem Session::StopLeaders(uint64_t limit_ns) {
  // A launch that ended at its run limit may have left commands in flight.
  const auto ended = [this](Problem* problem) {
    bool all = true;
    for (const auto& group : groups_) {
      const bool have_ended = group->HasEnded();
      const bool have_left = have_ended && group->Any([](const Led& led) { return led.HasLeft(); });
      if (have_left) {
        if (Problem failed = Launch(group.get())) *problem = failed;
      }
      all = all && !have_left && have_ended;
    }
    return all;
  };
  for (const auto& group : groups_) Raise(*group, CONTROL_STOP);
  uint64_t well_ns = NowNs();
  for (const uint64_t until_ns = well_ns + limit_ns;; sched_yield()) {
    Problem problem;
    if (ended(&problem)) return {};
    if (!problem) problem = executor_->Check();
    if (problem.dead) return problem;
    const uint64_t now_ns = NowNs();
    if (!problem) well_ns = now_ns;
    if (!problem && now_ns > until_ns) problem = Abandoned();
    else if (now_ns <= until_ns && now_ns - well_ns <= kBrokenNs) continue;
    Abandon();
    return problem;
  }
}

Problem Session::Abandoned() { return {"serve", "no end", "a leader did not end after it was stopped", 0}; }

// Keeps all memory that leaders may still access.
void Session::Abandon() {
  proxy_.Stop(false);
  abandoned_ = true;
  ready_ = false;
  executor_->Abandon();
  executor_->Serves(nullptr);
  for (auto& job : jobs_) static_cast<void>(job.release());
  jobs_.clear();
  groups_.clear();
  leaders_.clear();
  queues_.clear();
}

Problem Session::Detach(uint64_t limit_ns, std::vector<LeaderLayout>* layouts) {
  if (abandoned_) return Abandoned();
  if (Problem problem = StopLeaders(limit_ns)) return problem;
  proxy_.Stop(true);
  const Counters counted = counters();
  for (auto& led : leaders_) {
    LeaderLayout& layout = (*layouts)[led->number];
    Leader leader;
    if (Problem problem = executor_->Download(&leader, local_ + led->leader, sizeof leader)) return problem;
    layout.cq_head = leader.cq_head;
    layout.phase = leader.phase;
    for (size_t index = 0; index < layout.pairs.size(); index++) {
      PairLayout& to = layout.pairs[index];
      Pair pair;
      std::vector<Slot> slots(to.in_flight);
      Problem problem = executor_->Download(&pair, local_ + led->queues[index]->pair, sizeof pair);
      if (!problem) problem = executor_->Download(slots.data(), local_ + led->queues[index]->slots, slots.size() * sizeof(Slot));
      if (problem) return problem;
      to.sq_tail = pair.sq_tail;
      for (uint32_t slot = 0; slot < to.in_flight; slot++) to.generations[slot] = static_cast<uint16_t>(slots[slot].generation);
    }
  }
  past_ = counted;
  if (Problem problem = executor_->Join()) {
    Abandon();
    return problem;
  }
  Release();
  return {};
}

void Session::Release() {
  proxy_.Stop(false);
  ready_ = false;
  for (const uint64_t address : reached_) executor_->Forget(address);
  reached_.clear();
  for (const auto& job : jobs_) {
    executor_->FreeLocal(job->commands);
    executor_->FreeShared(job->outcomes);
  }
  jobs_.clear();
  queues_.clear();
  groups_.clear();
  leaders_.clear();
  if (local_ != 0) executor_->FreeLocal(local_);
  if (shared_.host != nullptr) executor_->FreeShared(shared_);
  local_ = 0;
  shared_ = {};
}

}  // namespace gpunvme
