// Runs leaders as threads of this process. Addresses need no translation.
#pragma once

#include <memory>
#include <vector>

#include "executor.h"

namespace gpunvme {

class CpuExecutor final : public Executor {
 public:
  CpuExecutor();
  ~CpuExecutor() override;

  void Wakes(Waker* waker) override;
  void Serves(Pausable* leaders) override;
  bool HasRoom(size_t shared, size_t local) const override;
  Problem Grow(size_t shared, size_t local) override;
  Problem AllocateShared(size_t bytes, SharedBlock* block) override;
  void FreeShared(const SharedBlock& block) override;
  Problem AllocateLocal(size_t bytes, uint64_t* device) override;
  void FreeLocal(uint64_t device) override;
  Problem Upload(uint64_t device, const void* from, size_t bytes) override;
  Problem Download(void* to, uint64_t device, size_t bytes) override;
  Problem Reach(uint64_t address, size_t bytes, bool registers, uint64_t* device) override;
  void Forget(uint64_t address) override;
  bool LaunchesTogether() const override { return false; }
  // Leaders wake the host themselves.
  void Posted() override {}
  Problem Launch(const LaunchedLeaders& leaders, uint64_t launch) override;
  Problem Check() override;
  Problem Join() override;
  void Abandon() override;
  bool End() override;

 private:
  class Thread;
  std::vector<std::unique_ptr<Thread>> threads_;
};

}  // namespace gpunvme
