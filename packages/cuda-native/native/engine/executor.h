// Runs leaders and allocates memory for them: on threads of this process, or on a GPU. Sessions use only this
// interface.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

namespace gpunvme {

class Waker;
struct Report;

// A failure; none if `call` is empty.
struct Problem {
  // The failed call: 'cuMemAlloc_v2', 'pthread_create'.
  std::string call;
  // Name and description of its result: 'CUDA_ERROR_OUT_OF_MEMORY', 'out of memory'.
  std::string name;
  std::string text;
  // Its number, if it is a result of a GPU's driver.
  int code = 0;
  // All launches have ended abnormally, and no further launch is possible.
  bool dead = false;
  // An invalid argument, which `text` describes; nothing was done.
  bool invalid = false;
  // Memory that could not be made accessible to leaders, and what is in it; empty for other failures.
  std::string what{};
  uint64_t address = 0;
  uint64_t bytes = 0;

  static Problem Invalid(std::string text) { return {"arguments", "EINVAL", std::move(text), 0, false, true}; }
  explicit operator bool() const { return !call.empty(); }
};

// Converts an address that leaders use to a pointer.
template <typename T>
T* Pointer(uint64_t device) {
  return reinterpret_cast<T*>(static_cast<uintptr_t>(device));
}

// Memory that host and leaders share.
struct SharedBlock {
  uint8_t* host = nullptr;
  // Address for leaders.
  uint64_t device = 0;
};

// Leaders that can be paused and resumed.
class Pausable {
 public:
  // Stops submission and lets leaders end, even with commands in flight.
  virtual void Pause() = 0;
  virtual bool HaveEnded() const = 0;
  // Launches leaders with work again.
  virtual void Resume() = 0;

 protected:
  ~Pausable() = default;
};

// Leaders that one launch starts.
struct LaunchedLeaders {
  // Number of the first leader in its session.
  unsigned first;
  unsigned count;
  // Address of their structures, one after the other.
  uint64_t at;
  // Their reports, one after the other.
  const Report* reports;
};

class Executor {
 public:
  virtual ~Executor() = default;

  // Sets what is woken when a leader reports. Called before any launch.
  virtual void Wakes(Waker* waker) = 0;
  // Sets the leaders to pause before calls in which a GPU's driver may wait for all kernels. nullptr if they can no
  // longer be paused.
  virtual void Serves(Pausable* leaders) = 0;

  // Returns whether this many bytes of either kind can be allocated now; otherwise Grow makes room.
  virtual bool HasRoom(size_t shared, size_t local) const = 0;
  virtual Problem Grow(size_t shared, size_t local) = 0;

  // Allocates zeroed memory, aligned to at least 64 bytes. There must be room.
  virtual Problem AllocateShared(size_t bytes, SharedBlock* block) = 0;
  virtual void FreeShared(const SharedBlock& block) = 0;

  // Allocates memory close to the leaders. The host accesses it by copies only.
  virtual Problem AllocateLocal(size_t bytes, uint64_t* device) = 0;
  virtual void FreeLocal(uint64_t device) = 0;
  // Synchronous copies; leaders may run meanwhile.
  virtual Problem Upload(uint64_t device, const void* from, size_t bytes) = 0;
  virtual Problem Download(void* to, uint64_t device, size_t bytes) = 0;

  // Makes memory of this process, or registers, accessible to leaders, and returns their address for it. Forget with
  // the same `address` undoes it.
  virtual Problem Reach(uint64_t address, size_t bytes, bool registers, uint64_t* device) = 0;
  virtual void Forget(uint64_t address) = 0;

  // Whether all leaders of a session are launched together, and each launch starts after all of them have ended. Otherwise, each
  // is launched alone.
  virtual bool LaunchesTogether() const = 0;
  // Starts `serve` for `leaders`, after their earlier launches.
  virtual Problem Launch(const LaunchedLeaders& leaders, uint64_t launch) = 0;
  // Called after work is posted: reports of running leaders will soon change.
  virtual void Posted() = 0;
  // Returns the failure of a launch, if any.
  virtual Problem Check() = 0;
  // Called after every launch has reported its end, before the leaders' memory is freed. Returns a problem if a launch
  // still runs.
  virtual Problem Join() = 0;
  // Called if leaders may never end: they keep their memory, and no longer wake anything.
  virtual void Abandon() = 0;
  // Releases all resources of others. Afterwards, only allocated memory may be freed. Returns false if that is not
  // possible now: the executor and its resources must stay.
  virtual bool End() = 0;
};

}  // namespace gpunvme
