// How a leader's thread, or whoever watches a leader on a GPU, gets the attention of the JavaScript thread.
#pragma once

#include <node_api.h>

#include <atomic>
#include <mutex>

namespace gpunvme {

class Waker {
 public:
  // `function` is called without arguments, soon after a Wake; once for several. It keeps no program from ending.
  bool Start(napi_env env, napi_value function);
  // Nothing is called any more, whoever wakes it then. Of the JavaScript thread.
  void Stop();
  // Of any thread.
  void Wake();
  // As long as somebody waits for what will wake it, the program does not end.
  void Hold(napi_env env, bool hold);

 private:
  static void Call(napi_env env, napi_value function, void* self, void*);

  std::mutex mutex_;
  // Changed under the lock.
  napi_threadsafe_function function_ = nullptr;
  std::atomic<bool> called_{false};
};

}  // namespace gpunvme
