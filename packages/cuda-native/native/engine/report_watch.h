// A GPU cannot call the host: a thread looks at what leaders report, and wakes the JavaScript thread when it changes.
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

  // Makes its thread, where there is none yet.
  Problem Start();
  // From now on that report is watched, until `ended` of it is `launch`. Start came before.
  void Add(const Report* report, uint64_t launch);

 private:
  struct Watched {
    const Report* report;
    uint64_t launch;
    uint64_t progress;
  };

  void Run();
  // Whether any of them has told something.
  static bool Look(std::vector<Watched>& watched);

  Waker* const waker_;
  std::mutex mutex_;
  Condition wake_;
  // Under the lock: what the thread has not taken over yet.
  std::vector<Watched> added_;
  bool ending_ = false;
  bool started_ = false;
  pthread_t thread_{};
};

}  // namespace gpunvme
