// Kernels that run for as long as they are fed, and calls of the driver that wait for whatever runs: such a call is made
// while every engine of that GPU rests, or not at all.
#pragma once

#include <cstdint>
#include <vector>

namespace gpunvme::cuda {

// What has kernels that do not end by themselves.
class Parkable {
 public:
  enum class State {
    kRunning,
    kResting,
    // The driver answers errors.
    kUnknown,
  };

  virtual ~Parkable() = default;

  // Its kernels end as soon as nothing is in flight.
  virtual void Pause() = 0;
  virtual State Look() = 0;
  // How long what is in flight may take, in nanoseconds.
  virtual uint64_t LongestNs() const = 0;
  // Kernels that have something to do are started again.
  virtual void Resume() = 0;
};

// All of a GPU, in one environment and of its thread alone. Engines of other threads are not known to it: what those of
// them run that linger ends at their `run_limit_ns`.
struct Parking {
  std::vector<Parkable*> parkables;
  unsigned depth = 0;
};

// Everything rests from its construction to its destruction, where it is `ok`. Waits for commands in flight, no longer
// than they may take. They nest.
class Parked {
 public:
  explicit Parked(Parking& parking);
  ~Parked();
  Parked(const Parked&) = delete;
  Parked& operator=(const Parked&) = delete;

  bool ok() const { return ok_; }
  // How long it was waited for, where it is not.
  uint64_t limit_ns() const { return limit_ns_; }

 private:
  Parking& parking_;
  bool ok_ = true;
  uint64_t limit_ns_ = 0;
};

}  // namespace gpunvme::cuda
