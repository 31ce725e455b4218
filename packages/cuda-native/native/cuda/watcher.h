// Waits for streams, on one thread per environment. A blocking call would stop JavaScript, and a wait inside the driver
// could not be cancelled when the environment ends.
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
  // Returns a Promise of whether the current work of `stream` ends within `timeoutNs`; nullptr if it threw.
  napi_value Add(napi_env env, const Session& session, Stream stream, double timeoutNs);

 private:
  bool Start(napi_env env);
  void Run();
  bool Look(std::vector<Wait*>& waits);
  void Stop();
  static void Settle(napi_env env, napi_value, void* context, void* data);

  std::mutex mutex_;
  Condition wake_;
  // Guarded by the lock: waits that the thread has not taken over yet.
  std::vector<Wait*> added_;
  bool stopping_ = false;
  // Used by the environment's thread only.
  size_t pending_ = 0;
  bool started_ = false;
  pthread_t thread_{};
  napi_threadsafe_function settle_ = nullptr;
};

}  // namespace gpunvme::cuda
