// Leaders as kernels of one thread, or of a warp, each on a stream of its own.
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
  // The session stays open until End.
  CudaExecutor(cuda::Session& session, cuda::Function serve, unsigned threads);
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
  Problem Launch(unsigned number, uint64_t leader, uint64_t launch, const Report* report) override;
  Problem Check() override;
  Problem Join() override;
  void Abandon() override;
  bool End() override;

 private:
  void Pause() override;
  State Look() override;
  uint64_t LongestNs() const override;
  void Resume() override;

  Problem Enter() const;
  Problem ProblemOf(const char* call, cuda::Result result) const;
  // Waits until nothing is left to do in that stream, no longer than a while.
  Problem Finish(cuda::Stream stream) const;
  Problem Transfer(const char* call, cuda::Result begun);
  Problem MakeStream(cuda::Stream* stream) const;
  // The GPU's address of whole pages; 0 where it has none for all of them.
  Problem Find(uint64_t first, uint64_t end, uint64_t* device) const;

  cuda::Session& session_;
  // As long as this may be looked at.
  const std::shared_ptr<cuda::Parking> parking_;
  Pausable* leaders_ = nullptr;
  bool ended_ = false;
  // A copy did not end: what it copies from or to stays.
  bool stuck_ = false;
  const cuda::Function serve_;
  // Of its only block.
  const unsigned threads_;
  // Uploads and downloads; leaders have those of their numbers.
  cuda::Stream copies_ = nullptr;
  std::vector<cuda::Stream> streams_;
  std::unique_ptr<ReportWatch> watch_;
  Pool shared_;
  Pool local_;
  // From the host's address of a shared block to the GPU's.
  struct Slab {
    uint8_t* host;
    uint64_t device;
    size_t bytes;
  };
  std::vector<Slab> slabs_;
  std::vector<cuda::DevicePointer> locals_;
  // What was registered here, by what Reach was given: the beginning of its pages.
  std::map<uint64_t, uint64_t> registered_;
  // What is copied, for as long as that takes: whoever asked for it may be gone then.
  std::vector<uint8_t> staged_;
};

}  // namespace gpunvme
