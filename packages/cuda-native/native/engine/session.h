// The host's side of leaders: posts plans, launches leaders that have ended, and collects outcomes. Used by one thread, the
// one that created it.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "doorbell_proxy.h"
#include "executor.h"
#include "leader_memory.h"
#include "queue_layout.h"
#include "share.cuh"

namespace gpunvme {

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
  // `context` is the argument of Port::wake_host.
  Session(std::shared_ptr<Executor> executor, const LeaderOptions& options, void* context);
  // Leaders that do not end keep their memory.
  ~Session();

  // `bytes` of memory in runs of 2^shift bytes. Returns no table if there is no room until posted plans complete.
  Problem Describe(std::vector<uint64_t> iovas, uint32_t shift, uint64_t bytes, std::shared_ptr<RunTable>* table);
  // Each queue gets a leader. Plans name queues by their index. Arguments are those of LeaderMemory::Fill.
  Problem Attach(const Memory& registers, bool are_memory, const std::vector<QueueLayout>& queues);
  bool attached() const { return !queues_.empty(); }
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
  // Called periodically. Returns the number of consecutive calls in which a leader showed no progress although it, or a leader
  // of the same launch, has work; the maximum over all leaders.
  uint32_t Watch();
  Counters counters() const;

  // Stops the leaders within `limit_ns`, and stores the rings' positions in `queues`, which must be the attached ones.
  Problem Detach(uint64_t limit_ns, std::vector<QueueLayout>* queues);

 private:
  struct Queue;
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
  // Set and clear flags in the control words of a group.
  static void Raise(const Group& group, uint64_t flags);
  static void Lower(const Group& group, uint64_t flags);
  void EndJob(Job* job, Finished* finished);
  void Release();

  // Shared with tables of runs.
  std::shared_ptr<Executor> executor_;
  const LeaderOptions options_;
  LeaderMemory memory_;
  std::vector<std::unique_ptr<Queue>> queues_;
  std::vector<std::unique_ptr<Group>> groups_;
  std::vector<std::unique_ptr<Job>> jobs_;
  DoorbellProxy proxy_;
  Counters past_{};
  // Leaders can be launched: their memory is initialized.
  bool ready_ = false;
  bool paused_ = false;
  // Memory of leaders is no longer freed.
  bool abandoned_ = false;
};

}  // namespace gpunvme
