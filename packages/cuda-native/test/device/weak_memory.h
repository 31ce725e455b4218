// Memory as weakly ordered as that of a GPU: stores become visible to other threads late and in any order, until the thread
// fences or releases. Loads are not reordered: a missing acquire is not detected.
#pragma once

#include <string.h>

#include <vector>

#include "model_controller.h"
#include "target.cuh"

namespace model {

// A port. `Threads` provides `thread()`, the number of this thread, and `threads()`, their count; `step()`, called before each
// operation; and `wait()`, called after each empty poll.
template <class Threads>
struct WeakMemoryPort {
  static inline uint64_t now = 1'000'000;
  // Selects stores that become visible without a fence; none do if it is null.
  static inline Random* numbers = nullptr;

  static void store16(void* at, const gpunvme::Quad& quad) { send(at, &quad, 16); }
  static void store64(uint64_t* at, uint64_t value) { send(at, &value, 8); }
  static void store_relaxed64(uint64_t* at, uint64_t value) { send(at, &value, 8); }
  static void fence() {
    point();
    arrive();
  }
  static void fence_acquire() { point(); }
  static uint64_t load_completion64(const uint64_t* at) { return load(at); }
  static uint64_t load_relaxed64(const uint64_t* at) { return load(at); }
  static uint64_t load_acquire64(const uint64_t* at) { return load(at); }
  static uint64_t load_acquire64_gpu(const uint64_t* at) { return load(at); }
  static uint32_t load_relaxed32(const uint32_t* at) { return load(at); }
  static uint32_t load_acquire32_gpu(const uint32_t* at) { return load(at); }
  static void store_release32(uint32_t* at, uint32_t value) { release(at, value); }
  static void store_release32_gpu(uint32_t* at, uint32_t value) { release(at, value); }
  static void store_release64(uint64_t* at, uint64_t value) { release(at, value); }
  static void store_release64_gpu(uint64_t* at, uint64_t value) { release(at, value); }
  static uint32_t add32_gpu(uint32_t* at, uint32_t value) {
    return change(at, [&](uint32_t before) { return before + value; });
  }
  static uint32_t add32_relaxed_gpu(uint32_t* at, uint32_t value) {
    point();
    const uint32_t before = *at;
    *at += value;
    return before;
  }
  static uint32_t xor32_gpu(uint32_t* at, uint32_t value) {
    return change(at, [&](uint32_t before) { return before ^ value; });
  }
  static uint32_t exchange32_gpu(uint32_t* at, uint32_t value) {
    return change(at, [&](uint32_t) { return value; });
  }
  static uint32_t cas32(uint32_t* at, uint32_t expected, uint32_t value) { return cas32_gpu(at, expected, value); }
  static uint32_t cas32_gpu(uint32_t* at, uint32_t expected, uint32_t value) {
    return change(at, [&](uint32_t before) { return before == expected ? value : before; });
  }
  static uint64_t cas64_gpu(uint64_t* at, uint64_t expected, uint64_t value) {
    return change(at, [&](uint64_t before) { return before == expected ? value : before; });
  }
  static uint64_t add64_gpu(uint64_t* at, uint64_t value) {
    return change(at, [&](uint64_t before) { return before + value; });
  }
  static void count64_gpu(uint64_t* at) {
    point();
    *at += 1;
  }
  static uint64_t now_ns() {
    point();
    return ++now;
  }
  static void relax(uint32_t) { Threads::wait(); }

  // Makes visible all stores of this thread, and those of threads that it has met, as at the end of a kernel.
  static void arrive() {
    auto& stores = mine();
    for (const Store& store : stores) memcpy(store.at, store.value, store.bytes);
    stores.clear();
    auto& met = met_with_mine();
    for (const Store& store : met) memcpy(store.at, store.value, store.bytes);
    met.clear();
  }

  // Called by each lane before the lanes of its warp meet: the others then see its earlier stores, and a release by any of them
  // includes these.
  static void meet() {
    auto& stores = mine();
    met_with_mine().insert(met_with_mine().end(), stores.begin(), stores.end());
    stores.clear();
  }

 protected:
  static void point() {
    auto& met = met_with_mine();
    auto& stores = mine().empty() || (!met.empty() && numbers != nullptr && numbers->once_in(2)) ? met : mine();
    if (numbers != nullptr && !stores.empty() && numbers->once_in(4)) let_arrive(stores, numbers->below(stores.size()));
    Threads::step();
  }

 private:
  struct Store {
    void* at;
    size_t bytes;
    unsigned char value[16];
  };
  static std::vector<Store>& mine() { return of(Threads::thread()); }
  // Stores of all lanes of this warp before they last met. In the table, warps follow threads.
  static std::vector<Store>& met_with_mine() { return of(Threads::threads() + Threads::thread() / 32); }
  static std::vector<Store>& of(uint32_t number) {
    static std::vector<std::vector<Store>> all;
    const size_t count = Threads::threads() + (Threads::threads() + 31) / 32;
    if (all.size() < count) all.resize(count);
    return all[number];
  }

  // Makes a store visible, unless an older one to the same address is not.
  static void let_arrive(std::vector<Store>& stores, size_t which) {
    const Store store = stores[which];
    const auto has_place = [&](const Store& other) { return other.at == store.at; };
    for (size_t i = 0; i < which; i++)
      if (has_place(stores[i])) return;
    if (&stores == &mine())
      for (const Store& met : met_with_mine())
        if (has_place(met)) return;
    memcpy(store.at, store.value, store.bytes);
    stores.erase(stores.begin() + static_cast<ptrdiff_t>(which));
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
  template <class Word, class Change>
  static Word change(Word* at, const Change& to) {
    point();
    arrive();
    const Word before = *at;
    *at = to(before);
    return before;
  }
  // A thread sees its own stores, and those of threads that it has met.
  template <class Word>
  static Word load(const Word* at) {
    point();
    for (const auto* stores : {&mine(), &met_with_mine()}) {
      for (size_t i = stores->size(); i-- > 0;) {
        const Store& store = (*stores)[i];
        if (store.at != at || store.bytes != sizeof(Word)) continue;
        Word value;
        memcpy(&value, store.value, sizeof value);
        return value;
      }
    }
    return __atomic_load_n(at, __ATOMIC_RELAXED);
  }
};

}  // namespace model
