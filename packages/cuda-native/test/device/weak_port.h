// The port of GPU threads that are fibers, with delayed and reordered stores.
#pragma once

#include "fibers/fiber_team.h"
#include "model_controller.h"
#include "target.cuh"

namespace model {

using namespace gpunvme;

// Stores reach other threads late and in any order until the thread fences or releases. Loads are not reordered: a missing
// acquire is not detected.
struct WeakPort {
  static inline uint64_t now = 1'000'000;
  static inline Random* numbers = nullptr;
  // How often a thread falls far behind.
  static inline uint32_t stall_once_in = 400;
  // Called before each store to a doorbell.
  static inline void (*rings)(const uint32_t* at, uint32_t value) = nullptr;

  static void store16(void* at, const Quad& quad) { send(at, &quad, 16); }
  static void store64(uint64_t* at, uint64_t value) { send(at, &value, 8); }
  static void store_relaxed64(uint64_t* at, uint64_t value) { send(at, &value, 8); }
  static void fence() {
    point();
    arrive();
  }
  static void fence_acquire() { point(); }
  static void mmio_store32(uint32_t* at, uint32_t value) {
    point();
    rings(at, value);
    __atomic_store_n(at, value, __ATOMIC_RELAXED);
  }
  static uint64_t load_completion64(const uint64_t* at) { return load(at); }
  static uint64_t load_relaxed64(const uint64_t* at) { return load(at); }
  static uint32_t load_relaxed32(const uint32_t* at) { return load(at); }
  static uint64_t load_acquire64_gpu(const uint64_t* at) { return load(at); }
  static uint32_t load_acquire32_gpu(const uint32_t* at) { return load(at); }
  static void store_release32(uint32_t* at, uint32_t value) { release(at, value); }
  static void store_release32_gpu(uint32_t* at, uint32_t value) { release(at, value); }
  static void store_release64_gpu(uint64_t* at, uint64_t value) { release(at, value); }
  static uint32_t add32_gpu(uint32_t* at, uint32_t value) {
    point();
    arrive();
    const uint32_t before = *at;
    *at += value;
    return before;
  }
  static uint32_t add32_relaxed_gpu(uint32_t* at, uint32_t value) {
    point();
    const uint32_t before = *at;
    *at += value;
    return before;
  }
  static uint32_t xor32_gpu(uint32_t* at, uint32_t value) {
    point();
    arrive();
    const uint32_t before = *at;
    *at ^= value;
    return before;
  }
  static uint32_t exchange32_gpu(uint32_t* at, uint32_t value) {
    point();
    arrive();
    const uint32_t before = *at;
    *at = value;
    return before;
  }
  static uint32_t cas32(uint32_t* at, uint32_t expected, uint32_t value) { return cas(at, expected, value); }
  static uint32_t cas32_gpu(uint32_t* at, uint32_t expected, uint32_t value) { return cas(at, expected, value); }
  static uint64_t cas64_gpu(uint64_t* at, uint64_t expected, uint64_t value) { return cas(at, expected, value); }
  static uint64_t add64_gpu(uint64_t* at, uint64_t value) {
    point();
    arrive();
    const uint64_t before = *at;
    *at += value;
    return before;
  }
  static void count64_gpu(uint64_t* at) {
    point();
    *at += 1;
  }
  static uint64_t now_ns() {
    point();
    return ++now;
  }
  static void relax(uint32_t) {
    now += 50;
    FiberBlock::now().pause();
  }

  // At the end of a kernel, all stores arrive.
  static void arrive() {
    auto& stores = mine();
    for (const Store& store : stores) memcpy(store.at, store.value, store.bytes);
    stores.clear();
  }

 private:
  struct Store {
    void* at;
    size_t bytes;
    unsigned char value[16];
  };
  static std::vector<Store>& mine() {
    static std::vector<std::vector<Store>> all;
    if (all.size() < FiberTeam::threads()) all.resize(FiberTeam::threads());
    return all[FiberTeam::thread()];
  }
  static void point() {
    auto& stores = mine();
    if (!stores.empty() && numbers->once_in(4)) {
      const size_t which = numbers->below(stores.size());
      const Store store = stores[which];
      // Not before an older one to the same place.
      bool is_first = true;
      for (size_t i = 0; i < which; i++) is_first = is_first && stores[i].at != store.at;
      if (is_first) {
        memcpy(store.at, store.value, store.bytes);
        stores.erase(stores.begin() + static_cast<ptrdiff_t>(which));
      }
    }
    FiberBlock::now().maybe_pause();
    if (numbers->once_in(stall_once_in))
      for (uint32_t turns = numbers->below(60); turns > 0; turns--) FiberBlock::now().pause();
  }
  static void send(void* at, const void* value, size_t bytes) {
    point();
    Store store{at, bytes, {}};
    memcpy(store.value, value, bytes);
    mine().push_back(store);
  }
  template <class Word>
  static void release(Word* at, Word value) {
    point();
    arrive();
    *at = value;
  }
  template <class Word>
  static Word cas(Word* at, Word expected, Word value) {
    point();
    arrive();
    const Word before = *at;
    if (before == expected) *at = value;
    return before;
  }
  // A thread sees its own stores.
  template <class Word>
  static Word load(const Word* at) {
    point();
    const auto& stores = mine();
    for (size_t i = stores.size(); i-- > 0;) {
      if (stores[i].at != at || stores[i].bytes != sizeof(Word)) continue;
      Word value;
      memcpy(&value, stores[i].value, sizeof value);
      return value;
    }
    return __atomic_load_n(at, __ATOMIC_RELAXED);
  }
};

}  // namespace model
