// Runs leaders as the blocks of a grid.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "../cuda/parking.h"
#include "../cuda/session.h"
#include "executor.h"
#include "pool.h"
#include "report_watch.h"

namespace gpunvme {

class CudaExecutor final : public Executor, private cuda::Parkable {
 public:
  // Keeps the session open until End.
  CudaExecutor(cuda::Session& session, cuda::Function serve);
  ~CudaExecutor() override;

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
  bool LaunchesTogether() const override { return true; }
  void Posted() override;
  Problem Launch(const LaunchedLeaders& leaders, uint64_t launch) override;
  Problem Check() override;
  Problem Join() override;
  void Abandon() override;
  bool End() override;

 private:
  void Pause() override;
  State Look() override;
  void Resume() override;

  Problem Enter() const;
  Problem ProblemOf(const char* call, cuda::Result result) const;
  // Waits until a stream is empty, with a time limit.
  Problem Finish(cuda::Stream stream) const;
  Problem Transfer(const char* call, cuda::Result begun);
  Problem MakeStream();

  cuda::Session& session_;
  // Kept alive by this executor.
  const std::shared_ptr<cuda::Parking> parking_;
  Pausable* leaders_ = nullptr;
  bool ended_ = false;
  // A copy did not end: its memory stays allocated.
  bool stuck_ = false;
  const cuda::Function serve_;
  // For uploads and downloads.
  cuda::Stream copies_ = nullptr;
  // For leaders.
  cuda::Stream stream_ = nullptr;
  Waker* waker_ = nullptr;
  // From the first launch to Join.
  std::unique_ptr<ReportWatch> watch_;
  Pool shared_;
  Pool local_;
  // Addresses of a shared block for host and GPU.
  struct Slab {
    uint8_t* host;
    uint64_t device;
    size_t bytes;
  };
  std::vector<Slab> slabs_;
  std::vector<cuda::DevicePointer> locals_;
  // Registrations: from the address passed to Reach to the start of its pages.
  std::map<uint64_t, uint64_t> registered_;
  // Data being copied. After a time-out it outlives the caller's buffer.
  std::vector<uint8_t> staged_;
};

}  // namespace gpunvme
