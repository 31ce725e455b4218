// The controller's addresses of a memory, readable by leaders.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "executor.h"
#include "share.cuh"

namespace gpunvme {

class RunTable {
 public:
  explicit RunTable(std::shared_ptr<Executor> executor) : executor_(std::move(executor)) {}
  RunTable(const RunTable&) = delete;
  RunTable& operator=(const RunTable&) = delete;
  ~RunTable() {
    if (device_ != 0) executor_->FreeLocal(device_);
  }

  // `bytes` is the length of the memory; its last run may be shorter than 2^shift.
  Problem Fill(const std::vector<uint64_t>& iovas, uint32_t shift, uint64_t bytes) {
    const size_t size = iovas.size() * sizeof(uint64_t);
    shift_ = shift;
    bytes_ = bytes;
    if (Problem problem = executor_->AllocateLocal(size, &device_)) return problem;
    return executor_->Upload(device_, iovas.data(), size);
  }

  uint64_t bytes() const { return bytes_; }
  // Returns whether the table belongs to this executor, whose leaders alone can read it.
  bool IsOf(const std::shared_ptr<Executor>& executor) const { return executor_ == executor; }
  Runs runs() const { return {reinterpret_cast<const uint64_t*>(static_cast<uintptr_t>(device_)), shift_}; }

 private:
  const std::shared_ptr<Executor> executor_;
  uint64_t device_ = 0;
  uint64_t shift_ = 0;
  uint64_t bytes_ = 0;
};

}  // namespace gpunvme
