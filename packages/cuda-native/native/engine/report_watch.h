// A thread that polls the reports of leaders on a GPU, which cannot call the host, and wakes the JavaScript thread on
// changes.
#pragma once

#include <pthread.h>

#include <mutex>
#include <vector>

#include "../condition.h"
#include "executor.h"

namespace gpunvme {

class ReportWatch {
 public:
  explicit ReportWatch(Waker* waker) : waker_(waker) {}
  ~ReportWatch();

  // Starts the thread if it does not run yet.
  Problem Start();
  // Watches a report until its `ended` equals `launch`. Call Start before.
  void Add(const Report* report, uint64_t launch);
  // Polls frequently again, since reports will soon change.
  void Expect();

 private:
  struct Watched {
    const Report* report;
    uint64_t launch;
    uint64_t progress;
  };

  void Run();
  // Returns whether any of them has changed.
  static bool Look(std::vector<Watched>& watched);

  Waker* const waker_;
  std::mutex mutex_;
  Condition wake_;
  // Guarded by the lock: entries that the thread has not taken over yet.
  std::vector<Watched> added_;
  bool expects_ = false;
  bool ending_ = false;
  bool started_ = false;
  pthread_t thread_{};
};

}  // namespace gpunvme
