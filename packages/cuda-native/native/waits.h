// Waiting for file descriptors. Every environment that waits has one thread for it: libuv's pool has four threads, and
// four interrupts that do not come would keep every file of the process waiting.
#pragma once

#include <node_api.h>
#include <pthread.h>

#include <mutex>
#include <vector>

namespace gpunvme {

struct Wait;

class Waits {
 public:
  // A Promise of whether `fd` can be read within `timeoutNs`; nullptr when it threw.
  napi_value Add(napi_env env, int fd, double timeoutNs);

 private:
  bool Start(napi_env env);
  void Run();
  void Finish(Wait* wait, bool readable, int error);
  void Stop();
  static void Settle(napi_env env, napi_value, void* context, void* data);

  std::mutex mutex_;
  // Under the lock; only the thread takes any away.
  std::vector<Wait*> active_;
  bool stopping_ = false;
  // Of the environment's thread alone.
  size_t pending_ = 0;
  bool started_ = false;
  pthread_t thread_{};
  int wake_ = -1;
  napi_threadsafe_function settle_ = nullptr;
};

}  // namespace gpunvme
