// Port of GPU threads as fibers, with weakly ordered memory.
#pragma once

#include "fibers/fiber_team.h"
#include "weak_memory.h"

namespace model {

using namespace gpunvme;

struct FiberThreads {
  // A thread stalls in one of this many steps.
  static inline uint32_t stall_once_in = 400;

  static uint32_t thread() { return FiberTeam::thread(); }
  static uint32_t threads() { return FiberTeam::threads(); }
  static inline void step();
  static inline void wait();
};

struct WeakPort : WeakMemoryPort<FiberThreads>, FiberThreads {
  // Called before each store to a doorbell.
  static inline void (*rings)(const uint32_t* at, uint32_t value) = nullptr;

  static void mmio_store32(uint32_t* at, uint32_t value) {
    point();
    rings(at, value);
    __atomic_store_n(at, value, __ATOMIC_RELAXED);
  }
  static void wake_host(void*) { point(); }
};

void FiberThreads::step() {
  FiberBlock::now().maybe_pause();
  if (!WeakPort::numbers->once_in(stall_once_in)) return;
  for (uint32_t turns = WeakPort::numbers->below(60); turns > 0; turns--) FiberBlock::now().pause();
}
void FiberThreads::wait() {
  WeakPort::now += 50;
  FiberBlock::now().pause();
}

// Lanes that have met see each other's stores, and a release by one includes the others'.
struct WeakTeam : FiberTeam {
  static void sync_warp(uint32_t mask) {
    WeakPort::meet();
    FiberTeam::sync_warp(mask);
  }
};

}  // namespace model
