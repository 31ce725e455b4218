// What runs leaders and has memory for them: threads of this process, or a GPU. A session is written against this alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

namespace gpunvme {

class Waker;
struct Report;

// Why something could not be done; none where `call` is empty.
struct Problem {
  // What was called: 'cuMemAlloc_v2', 'pthread_create'.
  std::string call;
  // What it answered, by its name and in words: 'CUDA_ERROR_OUT_OF_MEMORY', 'out of memory'.
  std::string name;
  std::string text;
  // The number of it, where the driver of a GPU has answered.
  int code = 0;
  // Nothing that was launched runs any more, and nothing ever will: leaders have ended, if not as they were told to.
  bool dead = false;
  // An invalid argument, which `text` describes; nothing was done.
  bool invalid = false;

  static Problem Invalid(std::string text) { return {"arguments", "EINVAL", std::move(text), 0, false, true}; }
  explicit operator bool() const { return !call.empty(); }
};

// Memory that host and leaders see at the same time.
struct SharedBlock {
  uint8_t* host = nullptr;
  // Its address as leaders take it.
  uint64_t device = 0;
};

// Leaders that are to end for a while, and to go on afterwards.
class Pausable {
 public:
  // They submit nothing more, and end when nothing is in flight.
  virtual void Pause() = 0;
  virtual bool HaveEnded() const = 0;
  // How long what is in flight may take, in nanoseconds.
  virtual uint64_t LongestNs() const = 0;
  // Those that have something to do are launched again.
  virtual void Resume() = 0;

 protected:
  ~Pausable() = default;
};

class Executor {
 public:
  virtual ~Executor() = default;

  // Who is woken when a leader has told something. Set before anything is launched.
  virtual void Wakes(Waker* waker) = 0;
  // Whose leaders it runs: a GPU's driver may wait for all of them, so that they are paused before it is asked for what it
  // may wait in. nullptr where nobody can pause them any more.
  virtual void Serves(Pausable* leaders) = 0;

  // Whether so many bytes of either kind can be allocated as things are. Where not, Grow makes it so.
  virtual bool HasRoom(size_t shared, size_t local) const = 0;
  virtual Problem Grow(size_t shared, size_t local) = 0;

  // Zeroed, aligned to 64 bytes or more. There must be room.
  virtual Problem AllocateShared(size_t bytes, SharedBlock* block) = 0;
  virtual void FreeShared(const SharedBlock& block) = 0;

  // Memory that is near to leaders, of which the host sees what it copies.
  virtual Problem AllocateLocal(size_t bytes, uint64_t* device) = 0;
  virtual void FreeLocal(uint64_t device) = 0;
  // Done when they return; leaders may run meanwhile.
  virtual Problem Upload(uint64_t device, const void* from, size_t bytes) = 0;
  virtual Problem Download(void* to, uint64_t device, size_t bytes) = 0;

  // The address for leaders of memory of this process, or of registers. Undone by Forget with what was given.
  virtual Problem Reach(uint64_t address, size_t bytes, bool registers, uint64_t* device) = 0;
  virtual void Forget(uint64_t address) = 0;

  // Starts `serve` for the leader of that number, after what was launched for it before. It tells by `report`.
  virtual Problem Launch(unsigned number, uint64_t leader, uint64_t launch, const Report* report) = 0;
  // Whether anything that was launched has failed by itself.
  virtual Problem Check() = 0;
  // Every launch has said that it ended and none follows: called before the leaders' memory goes. A problem where something
  // of them runs on.
  virtual Problem Join() = 0;
  // Leaders may run for ever, and what they use with them: nobody is woken any more.
  virtual void Abandon() = 0;
  // Gives back all that it has of others. Only what was allocated may still be freed after that. False where that cannot be
  // done now: it has to stay then, and what it has with it.
  virtual bool End() = 0;
};

}  // namespace gpunvme
