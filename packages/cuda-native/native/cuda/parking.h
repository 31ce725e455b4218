// Some calls of the driver wait for all running kernels, and leaders run while they have work. Such calls are made only
// while all engines of the GPU are paused.
#pragma once

#include <cstdint>
#include <vector>

namespace gpunvme::cuda {

// An owner of kernels that do not end by themselves.
class Parkable {
 public:
  enum class State {
    kRunning,
    kResting,
    // The driver returns errors.
    kUnknown,
  };

  virtual ~Parkable() = default;

  // Lets its kernels end, even with commands in flight.
  virtual void Pause() = 0;
  virtual State Look() = 0;
  // Launches kernels with work again.
  virtual void Resume() = 0;
};

// The engines of a GPU in one environment; used by its thread only. Lingering kernels of other threads are not paused;
// they end at their `run_limit_ns`.
struct Parking {
  std::vector<Parkable*> parkables;
  unsigned depth = 0;
};

// Pauses all engines from construction to destruction, if `ok`. Commands in flight stay in flight.
// Objects nest.
class Parked {
 public:
  explicit Parked(Parking& parking);
  ~Parked();
  Parked(const Parked&) = delete;
  Parked& operator=(const Parked&) = delete;

  bool ok() const { return ok_; }
  // The waiting time, if not `ok`.
  static uint64_t limit_ns();

 private:
  Parking& parking_;
  bool ok_ = true;
};

}  // namespace gpunvme::cuda
