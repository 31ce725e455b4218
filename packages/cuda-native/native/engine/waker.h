// Lets leader threads, and the thread that watches leaders on a GPU, wake the JavaScript thread.
#pragma once

#include <node_api.h>

#include <atomic>
#include <mutex>

namespace gpunvme {

class Waker {
 public:
  // `function` is called without arguments soon after Wake, once for several calls. It does not keep the program alive.
  bool Start(napi_env env, napi_value function);
  // Ends calls of the function. Called by the JavaScript thread.
  void Stop();
  // Called by any thread.
  void Wake();
  // Keeps the program alive while something waits for a wake-up.
  void Hold(napi_env env, bool hold);

 private:
  static void Call(napi_env env, napi_value function, void* self, void*);

  std::mutex mutex_;
  // Guarded by the lock.
  napi_threadsafe_function function_ = nullptr;
  std::atomic<bool> called_{false};
};

}  // namespace gpunvme
