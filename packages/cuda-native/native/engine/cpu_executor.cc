#include "cpu_executor.h"

#include <pthread.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <mutex>

#include "../thread.h"
#include "../condition.h"
#include "cpu_port.cuh"
#include "serve.cuh"
#include "solo_team.cuh"
#include "waker.h"

namespace gpunvme {

void CpuPort::wake_host(void* context) { static_cast<Waker*>(context)->Wake(); }

namespace {

// Separate cache lines, since the host polls words that leaders write.
constexpr size_t kAlignment = 64;

void* Zeroed(size_t bytes) {
  const size_t whole = (bytes + kAlignment - 1) / kAlignment * kAlignment;
  void* memory = std::aligned_alloc(kAlignment, whole);
  if (memory != nullptr) std::memset(memory, 0, whole);
  return memory;
}

Problem OutOfMemory() { return {"aligned_alloc", "ENOMEM", "the process is out of memory", ENOMEM}; }

template <typename T>
T* At(uint64_t address) {
  return reinterpret_cast<T*>(static_cast<uintptr_t>(address));
}

}  // namespace

// Runs one launch after another and sleeps between them.
class CpuExecutor::Thread {
 public:
  ~Thread() {
    if (!started_) return;
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      ending_ = true;
    }
    wake_.NotifyOne();
    pthread_join(thread_, nullptr);
  }

  Problem Launch(uint64_t leader, uint64_t launch) {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      leader_ = leader;
      launch_ = launch;
    }
    if (started_) {
      wake_.NotifyOne();
      return {};
    }
    const auto run = [](void* self) -> void* {
      static_cast<Thread*>(self)->Run();
      return nullptr;
    };
    const int error = StartThread(&thread_, "gpunvme-leader", run, this);
    if (error != 0) return {"pthread_create", "error " + std::to_string(error), std::strerror(error), error};
    started_ = true;
    return {};
  }

 private:
  void Run() {
    uint64_t done = 0;
    for (;;) {
      uint64_t leader;
      {
        std::unique_lock<std::mutex> lock(mutex_);
        wake_.Wait(lock, [&] { return ending_ || launch_ != done; });
        if (ending_) return;
        leader = leader_;
        done = launch_;
      }
      serve<SoloTeam, CpuPort>(*At<Leader>(leader), done);
    }
  }

  std::mutex mutex_;
  Condition wake_;
  uint64_t leader_ = 0;
  uint64_t launch_ = 0;
  bool ending_ = false;
  bool started_ = false;
  pthread_t thread_{};
};

CpuExecutor::CpuExecutor() = default;
CpuExecutor::~CpuExecutor() = default;

// Leaders call the waker themselves: it is their context.
void CpuExecutor::Wakes(Waker*) {}

// No call waits for running threads.
void CpuExecutor::Serves(Pausable*) {}

bool CpuExecutor::HasRoom(size_t, size_t) const { return true; }

Problem CpuExecutor::Grow(size_t, size_t) { return {}; }

Problem CpuExecutor::AllocateShared(size_t bytes, SharedBlock* block) {
  void* memory = Zeroed(bytes);
  if (memory == nullptr) return OutOfMemory();
  *block = {static_cast<uint8_t*>(memory), reinterpret_cast<uintptr_t>(memory)};
  return {};
}

void CpuExecutor::FreeShared(const SharedBlock& block) { std::free(block.host); }

Problem CpuExecutor::AllocateLocal(size_t bytes, uint64_t* device) {
  void* memory = Zeroed(bytes);
  if (memory == nullptr) return OutOfMemory();
  *device = reinterpret_cast<uintptr_t>(memory);
  return {};
}

void CpuExecutor::FreeLocal(uint64_t device) { std::free(At<void>(device)); }

Problem CpuExecutor::Upload(uint64_t device, const void* from, size_t bytes) {
  std::memcpy(At<void>(device), from, bytes);
  return {};
}

Problem CpuExecutor::Download(void* to, uint64_t device, size_t bytes) {
  std::memcpy(to, At<void>(device), bytes);
  return {};
}

Problem CpuExecutor::Reach(uint64_t address, size_t, bool, uint64_t* device) {
  *device = address;
  return {};
}

void CpuExecutor::Forget(uint64_t) {}

Problem CpuExecutor::Launch(const LaunchedLeaders& leaders, uint64_t launch) {
  while (threads_.size() <= leaders.first) threads_.push_back(std::make_unique<Thread>());
  return threads_[leaders.first]->Launch(leaders.at, launch);
}

Problem CpuExecutor::Check() { return {}; }

Problem CpuExecutor::Join() {
  threads_.clear();
  return {};
}

// Its threads and the stopped Waker that they call stay.
void CpuExecutor::Abandon() {}

bool CpuExecutor::End() { return true; }

}  // namespace gpunvme
