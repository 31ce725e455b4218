// A port whose every operation is a place where others may act, and whose memory is as weak as the code may expect of a
// GPU's: what is stored reaches others in any order, or not at all, until a fence or a store with release.
#pragma once

#include <string.h>

#include <functional>
#include <vector>

#include "model_controller.h"
#include "target.cuh"

namespace gpunvme {

struct HookPort {
  static constexpr uint32_t PATIENT_POLLS = 3;

  // Called before each operation.
  static inline std::function<void()> between;
  // Called with each doorbell, before it is stored.
  static inline std::function<void(uint32_t* at, uint32_t value)> rings;
  // Which of the stores on their way arrive by themselves; none where there is none.
  static inline model::Random* random = nullptr;
  static inline uint64_t now = 1'000'000;
  static inline uint64_t wakes = 0;

  static void store16(void* at, const Quad& quad) { send(at, &quad, 16); }
  static void store64(uint64_t* at, uint64_t value) { send(at, &value, 8); }
  static void fence() {
    point();
    arrive();
  }
  static void mmio_store32(uint32_t* at, uint32_t value) {
    point();
    rings(at, value);
    __atomic_store_n(at, value, __ATOMIC_RELAXED);
  }
  static uint64_t load_completion64(const uint64_t* at) { return load_acquire64(at); }
  static uint64_t load_acquire64(const uint64_t* at) { return load_relaxed64(at); }
  static uint64_t load_relaxed64(const uint64_t* at) {
    point();
    return __atomic_load_n(at, __ATOMIC_RELAXED);
  }
  static void store_relaxed64(uint64_t* at, uint64_t value) { send(at, &value, 8); }
  static void store_release64(uint64_t* at, uint64_t value) {
    point();
    arrive();
    *at = value;
  }
  static uint64_t cas64_gpu(uint64_t* at, uint64_t expected, uint64_t value) {
    point();
    arrive();
    const uint64_t before = *at;
    if (before == expected) *at = value;
    return before;
  }
  static uint64_t now_ns() {
    point();
    return ++now;
  }
  static void relax(uint32_t) { point(); }
  static void wake_host(void*) {
    point();
    wakes++;
  }

  // All that was stored is there.
  static void arrive() {
    for (const Store& store : stores()) memcpy(store.at, store.value, store.bytes);
    stores().clear();
  }

 private:
  struct Store {
    void* at;
    size_t bytes;
    unsigned char value[16];
  };
  static std::vector<Store>& stores() {
    static std::vector<Store> all;
    return all;
  }
  static void point() {
    if (random != nullptr && !stores().empty() && random->once_in(4)) {
      const size_t which = random->below(stores().size());
      const Store store = stores()[which];
      // Not before an older one to the same place.
      bool first = true;
      for (size_t i = 0; i < which; i++) first = first && stores()[i].at != store.at;
      if (first) {
        memcpy(store.at, store.value, store.bytes);
        stores().erase(stores().begin() + static_cast<ptrdiff_t>(which));
      }
    }
    if (between) between();
  }
  static void send(void* at, const void* value, size_t bytes) {
    point();
    Store store{at, bytes, {}};
    memcpy(store.value, value, bytes);
    stores().push_back(store);
  }
};

}  // namespace gpunvme
