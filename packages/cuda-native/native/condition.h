// A condition variable. std::condition_variable::wait has a symbol in libstdc++ since GCC 12; an addon that uses it
// cannot be loaded with older ones.
#pragma once

#include <pthread.h>
#include <time.h>

#include <chrono>
#include <cstdint>
#include <mutex>

namespace gpunvme {

class Condition {
 public:
  Condition() = default;
  Condition(const Condition&) = delete;
  Condition& operator=(const Condition&) = delete;
  ~Condition() { pthread_cond_destroy(&condition_); }

  void NotifyOne() { pthread_cond_signal(&condition_); }

  // Waits until `is_true` returns true, which is called under the lock.
  template <class Predicate>
  void Wait(std::unique_lock<std::mutex>& lock, Predicate is_true) {
    while (!is_true()) pthread_cond_wait(&condition_, lock.mutex()->native_handle());
  }

  // Like Wait, with a time limit.
  template <class Predicate>
  void WaitFor(std::unique_lock<std::mutex>& lock, std::chrono::nanoseconds duration, Predicate is_true) {
    constexpr int64_t kSecond = 1'000'000'000;
    timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    const int64_t ns = until.tv_nsec + duration.count();
    until.tv_sec += ns / kSecond;
    until.tv_nsec = ns % kSecond;
    while (!is_true()) {
      const int error = pthread_cond_clockwait(&condition_, lock.mutex()->native_handle(), CLOCK_MONOTONIC, &until);
      if (error != 0) return;
    }
  }

 private:
  pthread_cond_t condition_ = PTHREAD_COND_INITIALIZER;
};

}  // namespace gpunvme
