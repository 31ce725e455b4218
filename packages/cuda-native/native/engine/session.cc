#include "session.h"

#include <sched.h>
#include <time.h>

#include <algorithm>
#include <cstdio>

#include "checks.h"
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

// A sum of words that only increase, at least one of them while the leader runs.
uint64_t SignOf(const Report& report) { return Load(&report.heartbeat) + Load(&report.progress) + Load(&report.ended); }

}  // namespace

// The host's state of a queue and of the leader that serves it.
struct Session::Queue {
  unsigned number = 0;
  // Number of launches of its group.
  const uint64_t* launches = nullptr;
  Report* report = nullptr;
  uint64_t* control = nullptr;
  Share* shares = nullptr;
  // Number of shares ever posted; all before `oldest` are done.
  uint32_t posted = 0;
  uint32_t oldest = 0;
  // Maximum bytes of one command.
  uint64_t reach = 0;
  // For Watch: last progress value, and number of calls without a change.
  uint64_t sign = 0;
  uint32_t silent = 0;

  // Shares before `oldest` are done; their places in the ring may have been reused.
  bool IsDone(uint32_t number) const {
    return static_cast<int32_t>(number - oldest) < 0 || Load(&shares[number % SHARES].done) != 0;
  }
  void SkipDone() {
    while (oldest != posted && IsDone(oldest)) oldest++;
  }
  bool HasRoom() {
    SkipDone();
    return posted - oldest < SHARES;
  }
  bool HasWork() {
    SkipDone();
    return oldest != posted;
  }

  bool HasEnded() const { return Load(&report->ended) == *launches; }
  // Whether the last launch of its leader, which has ended, left commands in flight for the next one.
  bool HasLeft() const { return Load(&report->in_flight) != 0; }
};

// Queues whose leaders one launch starts.
struct Session::Group {
  std::vector<Queue*> queues;
  uint64_t launches = 0;

  template <typename Condition>
  bool Any(Condition condition) const {
    return std::any_of(queues.begin(), queues.end(), [&](Queue* queue) { return condition(*queue); });
  }
  bool HasEnded() const {
    return !Any([](const Queue& queue) { return !queue.HasEnded(); });
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

Session::Session(std::shared_ptr<Executor> executor, const LeaderOptions& options, void* context)
    : executor_(std::move(executor)), options_(options), memory_(*executor_, options, context) {
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

Problem Session::Attach(const Memory& registers, bool are_memory, const std::vector<QueueLayout>& layouts) {
  if (attached()) return Problem::Invalid("this engine has queues: detach them first");
  if (std::string wrong = ProblemOf(registers, layouts); !wrong.empty()) return Problem::Invalid(std::move(wrong));
  for (const QueueLayout& layout : layouts) {
    if (!layout.prp_list_runs->IsOf(executor_)) return Problem::Invalid("prpListRuns: expected a table of this engine");
  }
  memory_.Place(layouts);
  bool room = false;
  Problem problem = MakeRoom(memory_.shared_bytes(), memory_.local_bytes(), &room);
  if (!problem) problem = memory_.Fill(registers, are_memory, layouts);
  if (!problem) problem = memory_.Forward(registers, layouts, &proxy_);
  if (problem) {
    Release();
    return problem;
  }
  for (size_t number = 0; number < layouts.size(); number++) {
    auto queue = std::make_unique<Queue>();
    const SharedState shared = memory_.shared(number);
    queue->number = static_cast<unsigned>(number);
    queue->report = shared.report;
    queue->shares = shared.shares;
    queue->control = shared.control;
    queue->posted = queue->oldest = options_.first_share;
    queue->reach = ReachOf(layouts[number]);
    if (groups_.empty() || !executor_->LaunchesTogether()) groups_.push_back(std::make_unique<Group>());
    groups_.back()->queues.push_back(queue.get());
    queue->launches = &groups_.back()->launches;
    queues_.push_back(std::move(queue));
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
  if (plan.block_bytes == 0) return Problem::Invalid("plan.blockBytes: expected 1 or more, got 0");
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
  for (const auto& each : queues_) reach = std::min(reach, each->reach);
  const auto memory_end = static_cast<double>(memory_bytes);
  for (uint32_t at = 0; at < plan.commands; at++) {
    const double slba = plan.slba[at], offset = plan.offset[at];
    const uint32_t blocks = sorted->blocks[at];
    const uint64_t bytes = static_cast<uint64_t>(blocks) * plan.block_bytes;
    // NLB is 0's based: without blocks, the command would transfer one, to address 0.
    if (blocks == 0 || blocks > kMaxBlocks) return wrong(at, "1 to 65536 blocks", blocks);
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
  for (const Queue* queue : group.queues) Store(queue->control, *queue->control | flags);
}

void Session::Lower(const Group& group, uint64_t flags) {
  for (const Queue* queue : group.queues) Store(queue->control, *queue->control & ~flags);
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
    const bool waits = group->Any([](Queue& queue) { return queue.HasEnded() && queue.HasWork(); });
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
  const Queue& first = *group->queues.front();
  const auto count = static_cast<unsigned>(group->queues.size());
  const LaunchedLeaders leaders = {first.number, count, memory_.leader(first.number), first.report};
  // Counted after it succeeded, so that the end of a failed launch is not awaited.
  Problem problem = executor_->Launch(leaders, group->launches + 1);
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
  return std::any_of(queues_.begin(), queues_.end(), [](const auto& queue) { return Load(&queue->report->halted) != 0; });
}

uint64_t Session::Heartbeat() const {
  uint64_t sum = 0;
  for (const auto& queue : queues_) sum += SignOf(*queue->report);
  return sum;
}

uint32_t Session::Watch() {
  uint32_t most = 0;
  for (const auto& group : groups_) {
    // Work of the whole group counts: its leaders may wait for a leader without work to end.
    const bool has_work = group->Any([](Queue& queue) { return queue.HasWork(); });
    for (Queue* queue : group->queues) {
      const uint64_t sign = SignOf(*queue->report);
      const bool silent = sign == queue->sign && !queue->HasEnded() && has_work;
      queue->silent = silent ? queue->silent + 1 : 0;
      queue->sign = sign;
      most = std::max(most, queue->silent);
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
  for (const auto& queue : queues_) {
    sum.commands += Load(&queue->report->commands);
    sum.doorbell_writes += Load(&queue->report->doorbell_writes);
    sum.stale += Load(&queue->report->stale);
  }
  return sum;
}

Problem Session::StopLeaders(uint64_t limit_ns) {
  // A launch that ended at its run limit may have left commands in flight.
  const auto ended = [this](Problem* problem) {
    bool all = true;
    for (const auto& group : groups_) {
      const bool have_ended = group->HasEnded();
      const bool have_left = have_ended && group->Any([](const Queue& queue) { return queue.HasLeft(); });
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
  queues_.clear();
}

Problem Session::Detach(uint64_t limit_ns, std::vector<QueueLayout>* layouts) {
  if (abandoned_) return Abandoned();
  if (Problem problem = StopLeaders(limit_ns)) return problem;
  proxy_.Stop(true);
  if (attached()) {
    if (Problem problem = memory_.ReadPositions(layouts)) return problem;
  }
  past_ = counters();
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
  for (const auto& job : jobs_) {
    executor_->FreeLocal(job->commands);
    executor_->FreeShared(job->outcomes);
  }
  jobs_.clear();
  groups_.clear();
  queues_.clear();
  memory_.Free();
}

}  // namespace gpunvme
