// Waits for file descriptors, on one thread per environment: in libuv's pool of four threads, four interrupts that do
// not arrive would block all file access of the process.
#pragma once

#include <node_api.h>
#include <pthread.h>

#include <mutex>
#include <vector>

namespace gpunvme {

struct Wait;

class Waits {
 public:
  // Returns a Promise of whether `fd` becomes readable within `timeoutNs`; nullptr if it threw.
  napi_value Add(napi_env env, int fd, double timeoutNs);

 private:
  bool Start(napi_env env);
  void Run();
  void Finish(Wait* wait, bool readable, int error);
  void Stop();
  static void Settle(napi_env env, napi_value, void* context, void* data);

  std::mutex mutex_;
  // Guarded by the lock; only the thread removes entries.
  std::vector<Wait*> active_;
  bool stopping_ = false;
  // Used by the environment's thread only.
  size_t pending_ = 0;
  bool started_ = false;
  pthread_t thread_{};
  int wake_ = -1;
  napi_threadsafe_function settle_ = nullptr;
};

}  // namespace gpunvme
