// Plans on their way through leaders, as the host sees it: it lays queues out for them, posts plans, starts leaders that
// have ended, and gathers outcomes. Of one thread, the one that made it.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "executor.h"
#include "share.cuh"

namespace gpunvme {

struct SessionOptions {
  // How long a leader waits for another plan before it ends.
  uint64_t linger_ns;
  // The address of a word that counts nanoseconds, for time-outs; 0 for the executor's own clock.
  uint64_t clock;
  // What the first plan of each queue is counted as: counts go on modulo 2^32, which takes a test too long to reach.
  uint32_t first_share = 0;
  // How long a leader runs at a time; 0 for as long as it has something to do, or lingers.
  uint64_t run_limit_ns = 0;
};

// Memory by its address in this process, or, where it is `on_device`, by that which leaders use already.
struct Memory {
  uint64_t address;
  uint64_t bytes;
  bool on_device;
};

// Runs of memory, for as long as anything is executed on it.
class RunTable;

struct PairLayout {
  Memory sq;
  Memory prp_lists;
  std::shared_ptr<RunTable> prp_list_runs;
  uint32_t qid, sq_entries, sq_tail, in_flight, slot_bits, prp_list_bytes, page_bytes;
  uint64_t tail_doorbell;
  // Rolls on in place: `in_flight` of them.
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

// A command that did not succeed, or never was submitted: the outcome is as share.cuh has it.
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
  // Leaders that would not end keep what they use.
  ~Session();

  // `bytes` of memory in runs of 2^shift bytes. Returns no table if there is no room until posted plans complete.
  Problem Describe(std::vector<uint64_t> iovas, uint32_t shift, uint64_t bytes, std::shared_ptr<RunTable>* table);
  // Registers begin at `registers`; doorbells are offsets from there. They may be memory, as a simulator's are.
  Problem Attach(Memory registers, bool are_memory, std::vector<LeaderLayout> leaders);
  bool attached() const { return !leaders_.empty(); }
  // Leaders did not end when they were told to, and may still run.
  bool abandoned() const { return abandoned_; }

  // Not `posted` where there is no room for it before others are done.
  Problem Post(uint32_t id, const Plan& plan, std::shared_ptr<RunTable> memory, bool* posted);
  void Cancel(uint32_t id);
  // Nothing more is submitted; where the device is lost, nothing is waited for either.
  void Halt(bool lost);

  // Starts leaders that have ended with plans before them, and gives the plans that are done.
  Problem Poll(std::vector<Finished>* finished);
  bool halted() const;
  // Changes as long as any of the leaders lives.
  uint64_t Heartbeat() const;
  // To be called again and again: for how many calls in a row a leader that has something to do has given no sign of life,
  // its first one included; the most of all leaders. What other leaders tell says nothing of it.
  uint32_t Watch();
  Counters counters() const;

  // Ends the leaders, waiting no longer than `limit_ns`, and tells where the rings stand by `leaders`' own fields.
  Problem Detach(uint64_t limit_ns, std::vector<LeaderLayout>* leaders);

 private:
  struct Queue;
  struct Led;
  struct Job;
  struct Sorted;

  void Pause() override;
  bool HaveEnded() const override;
  uint64_t LongestNs() const override;
  void Resume() override;
  Problem Sort(const Plan& plan, uint64_t memory_bytes, Sorted* sorted) const;
  Problem MakeRoom(size_t shared, size_t local, bool* made);
  Problem StopLeaders(uint64_t limit_ns);
  void Abandon();
  static Problem Abandoned();
  Problem StartIdle();
  void EndJob(Job* job, Finished* finished);
  void Release();

  // Tables of runs have a share in it.
  std::shared_ptr<Executor> executor_;
  const SessionOptions options_;
  void* const context_;
  std::vector<std::unique_ptr<Led>> leaders_;
  // By the index that plans name them by.
  std::vector<Queue*> queues_;
  std::vector<std::unique_ptr<Job>> jobs_;
  std::vector<uint64_t> reached_;
  // All that host and leaders share of the queues: reports, controls, rings of shares.
  SharedBlock shared_;
  uint64_t local_ = 0;
  Counters past_{};
  // Leaders can be launched: all that they use is there.
  bool ready_ = false;
  bool paused_ = false;
  // Nothing that leaders use is given back then.
  bool abandoned_ = false;
};

}  // namespace gpunvme
