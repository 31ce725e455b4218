// Waiting for a GPU, on one thread for all streams of an environment: a call that waits would stop JavaScript, and one
// that waits in the driver could not be ended when the environment is.
#pragma once

#include <node_api.h>
#include <pthread.h>

#include <chrono>
#include <mutex>
#include <vector>

#include "../condition.h"
#include "session.h"

namespace gpunvme::cuda {

struct Wait;

class Watcher {
 public:
  // A Promise of whether all that was put into `stream` until now is done within `timeoutNs`; nullptr when it threw.
  napi_value Add(napi_env env, const Session& session, Stream stream, double timeoutNs);

 private:
  bool Start(napi_env env);
  void Run();
  bool Look(std::vector<Wait*>& waits);
  void Stop();
  static void Settle(napi_env env, napi_value, void* context, void* data);

  std::mutex mutex_;
  Condition wake_;
  // Under the lock: what the thread has not taken over yet.
  std::vector<Wait*> added_;
  bool stopping_ = false;
  // Of the environment's thread alone.
  size_t pending_ = 0;
  bool started_ = false;
  pthread_t thread_{};
  napi_threadsafe_function settle_ = nullptr;
};

}  // namespace gpunvme::cuda
