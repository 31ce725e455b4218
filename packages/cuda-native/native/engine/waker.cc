#include "waker.h"

namespace gpunvme {

bool Waker::Start(napi_env env, napi_value function) {
  napi_value name;
  napi_create_string_utf8(env, "gpunvme.engine", NAPI_AUTO_LENGTH, &name);
  const napi_status status =
      napi_create_threadsafe_function(env, function, nullptr, name, 0, 1, nullptr, nullptr, this, Call, &function_);
  if (status != napi_ok) return false;
  napi_unref_threadsafe_function(env, function_);
  return true;
}

void Waker::Stop() {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (function_ != nullptr) napi_release_threadsafe_function(function_, napi_tsfn_abort);
  function_ = nullptr;
}

void Waker::Wake() {
  if (called_.exchange(true)) return;
  const std::lock_guard<std::mutex> lock(mutex_);
  if (function_ != nullptr) napi_call_threadsafe_function(function_, nullptr, napi_tsfn_nonblocking);
}

void Waker::Hold(napi_env env, bool hold) {
  if (hold) napi_ref_threadsafe_function(env, function_);
  else napi_unref_threadsafe_function(env, function_);
}

void Waker::Call(napi_env env, napi_value function, void* self, void*) {
  // Stopped, or the environment ends: the waker itself may be gone.
  if (env == nullptr || function == nullptr) return;
  static_cast<Waker*>(self)->called_.store(false);
  napi_value undefined;
  napi_get_undefined(env, &undefined);
  napi_call_function(env, undefined, function, 0, nullptr, nullptr);
}

}  // namespace gpunvme
