// The host's side of leaders: lays out their queues, posts plans, launches leaders that have ended, and collects
// outcomes. Used by one thread, the one that created it.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "doorbell_proxy.h"
#include "executor.h"
#include "share.cuh"

namespace gpunvme {

struct SessionOptions {
  // Time without work after which a leader ends.
  uint64_t linger_ns;
  // Address of a word that counts nanoseconds, for time-outs; 0 for the executor's clock.
  uint64_t clock;
  // Number of the first share of each queue, for tests of the wrap-around at 2^32.
  uint32_t first_share = 0;
  // Maximum run time of a launch; 0 for none.
  uint64_t run_limit_ns = 0;
  // Whether a thread forwards doorbells, because leaders cannot write the controller's registers.
  bool forwards_doorbells = false;
};

// Memory by its address in this process, or by its address for leaders if `on_device`.
struct Memory {
  uint64_t address;
  uint64_t bytes;
  bool on_device;
};

// The runs of a memory, kept while plans use it.
class RunTable;

struct PairLayout {
  Memory sq;
  Memory prp_lists;
  std::shared_ptr<RunTable> prp_list_runs;
  uint32_t qid, sq_entries, sq_tail, in_flight, slot_bits, prp_list_bytes, page_bytes;
  uint64_t tail_doorbell;
  // `in_flight` elements, updated in place.
  uint16_t* generations;
};

struct LeaderLayout {
  Memory cq;
  uint32_t cq_entries, cq_head, phase;
  uint64_t head_doorbell;
  std::vector<PairLayout> pairs;
};

// A plan as arrays of `commands` entries. Each is read once, since other threads may change them.
struct Plan {
  uint32_t opcode, nsid, block_bytes, commands;
  const double* slba;
  const uint32_t* blocks;
  const double* offset;
  const uint16_t* queue;
  uint64_t timeout_ns;
};

// A command that failed or was not submitted. share.cuh defines the outcome.
struct Failure {
  uint32_t command;
  uint64_t outcome;
};

struct Finished {
  uint32_t id;
  uint32_t succeeded;
  double bytes;
  std::vector<Failure> failures;
};

struct Counters {
  uint64_t commands, doorbell_writes, stale;
};

class Session final : private Pausable {
 public:
  Session(std::shared_ptr<Executor> executor, SessionOptions options, void* context);
  // Leaders that do not end keep their memory.
  ~Session();

  // `bytes` of memory in runs of 2^shift bytes. Returns no table if there is no room until posted plans complete.
  Problem Describe(std::vector<uint64_t> iovas, uint32_t shift, uint64_t bytes, std::shared_ptr<RunTable>* table);
  // Doorbells are offsets from `registers`. `are_memory`: they are memory, as a simulator's.
  Problem Attach(Memory registers, bool are_memory, std::vector<LeaderLayout> leaders);
  bool attached() const { return !leaders_.empty(); }
  // Leaders did not end when stopped, and may still run.
  bool abandoned() const { return abandoned_; }

  // `posted` is false if there is no room until other plans complete.
  Problem Post(uint32_t id, const Plan& plan, std::shared_ptr<RunTable> memory, bool* posted);
  void Cancel(uint32_t id);
  // Ends submissions. If the controller is lost, commands in flight are not awaited.
  void Halt(bool lost);

  // Returns completed plans, and launches ended leaders that have work.
  Problem Poll(std::vector<Finished>* finished);
  bool halted() const;
  // Changes while any leader runs.
  uint64_t Heartbeat() const;
  // Called periodically. Returns the number of consecutive calls in which a leader showed no sign although it, or one that is
  // launched with it, has work; the maximum over all leaders.
  uint32_t Watch();
  Counters counters() const;

  // Stops the leaders within `limit_ns`, and stores the rings' positions in `leaders`.
  Problem Detach(uint64_t limit_ns, std::vector<LeaderLayout>* leaders);

 private:
  struct Queue;
  struct Led;
  struct Group;
  struct Job;
  struct Sorted;

  void Pause() override;
  bool HaveEnded() const override;
  void Resume() override;
  Problem Sort(const Plan& plan, uint64_t memory_bytes, Sorted* sorted) const;
  Problem MakeRoom(size_t shared, size_t local, bool* made);
  Problem StopLeaders(uint64_t limit_ns);
  void Abandon();
  static Problem Abandoned();
  Problem StartIdle();
  Problem Launch(Group* group);
  // Set and clear flags in the control words of a group's queues.
  static void Raise(const Group& group, uint64_t flags);
  static void Lower(const Group& group, uint64_t flags);
  void EndJob(Job* job, Finished* finished);
  void Release();

  // Shared with tables of runs.
  std::shared_ptr<Executor> executor_;
  const SessionOptions options_;
  void* const context_;
  std::vector<std::unique_ptr<Led>> leaders_;
  std::vector<std::unique_ptr<Group>> groups_;
  // By the index in plans.
  std::vector<Queue*> queues_;
  std::vector<std::unique_ptr<Job>> jobs_;
  std::vector<uint64_t> reached_;
  // Memory of the queues that host and leaders share: reports, control words, rings of shares.
  SharedBlock shared_;
  uint64_t local_ = 0;
  DoorbellProxy proxy_;
  Counters past_{};
  // Leaders can be launched: their memory is initialised.
  bool ready_ = false;
  bool paused_ = false;
  // Memory of leaders is no longer freed.
  bool abandoned_ = false;
};

}  // namespace gpunvme
