#include "watcher.h"

#include <algorithm>

#include "../thread.h"
#include "../values.h"

namespace gpunvme::cuda {

using Time = std::chrono::steady_clock;

struct Wait {
  const Functions& api;
  Context context;
  Stream stream;
  Event event;
  Time::time_point deadline;
  napi_deferred deferred;
  bool done;
  Result error;
  const char* call;
};

namespace {

// Pause between polls: short after a change, then increasing.
constexpr std::chrono::microseconds kShortest{20};
constexpr std::chrono::microseconds kLongest{1000};

}  // namespace

napi_value Watcher::Add(napi_env env, const Session& session, Stream stream, double timeoutNs) {
  const Functions& api = session.api;
  if (!started_ && !Start(env)) return nullptr;
  Event event;
  if (!Check(env, api, api.cuEventCreate(&event, kEventDisableTiming), "cuEventCreate", "Waiting for the GPU")) {
    return nullptr;
  }
  const Result recorded = api.cuEventRecord(event, stream);
  if (recorded != kSuccess) {
    api.cuEventDestroy_v2(event);
    Check(env, api, recorded, "cuEventRecord", "Waiting for the GPU");
    return nullptr;
  }
  const auto deadline = Time::now() + std::chrono::nanoseconds(static_cast<int64_t>(timeoutNs));
  auto* wait = new Wait{api, session.context, stream, event, deadline, nullptr, false, kSuccess, "cuEventQuery"};
  napi_value promise;
  napi_create_promise(env, &wait->deferred, &promise);
  // Pending waits keep the program alive.
  if (pending_++ == 0) napi_ref_threadsafe_function(env, settle_);
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    added_.push_back(wait);
  }
  wake_.NotifyOne();
  return promise;
}

bool Watcher::Start(napi_env env) {
  napi_value name;
  napi_create_string_utf8(env, "gpunvme.gpu", NAPI_AUTO_LENGTH, &name);
  napi_create_threadsafe_function(env, nullptr, nullptr, name, 0, 1, nullptr, nullptr, this, Settle, &settle_);
  napi_unref_threadsafe_function(env, settle_);
  const auto run = [](void* self) -> void* {
    static_cast<Watcher*>(self)->Run();
    return nullptr;
  };
  const int error = StartThread(&thread_, "gpunvme-gpu", run, this);
  if (error != 0) {
    napi_release_threadsafe_function(settle_, napi_tsfn_abort);
    ThrowSystem(env, error, "pthread_create");
    return false;
  }
  // Hooks run in reverse order, so the thread has ended before the sessions do.
  napi_add_env_cleanup_hook(env, [](void* self) { static_cast<Watcher*>(self)->Stop(); }, this);
  started_ = true;
  return true;
}

void Watcher::Run() {
  std::vector<Wait*> waits;
  auto pause = kShortest;
  while (true) {
    {
      std::unique_lock<std::mutex> lock(mutex_);
      const auto called = [this] { return stopping_ || !added_.empty(); };
      if (waits.empty()) wake_.Wait(lock, called);
      else wake_.WaitFor(lock, pause, called);
      if (stopping_) break;
      if (!added_.empty()) pause = kShortest;
      waits.insert(waits.end(), added_.begin(), added_.end());
      added_.clear();
    }
    pause = Look(waits) ? kShortest : std::min(pause * 2, kLongest);
  }
  for (Wait* wait : waits) {
    wait->api.cuEventDestroy_v2(wait->event);
    delete wait;
  }
}

// Settles finished and expired waits, in order per stream. Returns whether there were any.
bool Watcher::Look(std::vector<Wait*>& waits) {
  const auto now = Time::now();
  std::vector<Stream> behind;
  Context current = nullptr;
  const auto settled = std::remove_if(waits.begin(), waits.end(), [&](Wait* wait) {
    const bool waits_behind = std::find(behind.begin(), behind.end(), wait->stream) != behind.end();
    Result result = kErrorNotReady;
    if (!waits_behind) {
      if (wait->context != current) {
        result = wait->api.cuCtxSetCurrent(wait->context);
        wait->call = "cuCtxSetCurrent";
        current = result == kSuccess ? wait->context : nullptr;
      }
      if (current == wait->context) {
        result = wait->api.cuEventQuery(wait->event);
        wait->call = "cuEventQuery";
      }
    }
    if (result == kErrorNotReady && now < wait->deadline) {
      behind.push_back(wait->stream);
      return false;
    }
    wait->done = result == kSuccess;
    wait->error = result == kErrorNotReady ? kSuccess : result;
    const Result destroyed = wait->api.cuEventDestroy_v2(wait->event);
    if (destroyed != kSuccess && wait->error == kSuccess) {
      wait->error = destroyed;
      wait->call = "cuEventDestroy_v2";
    }
    napi_call_threadsafe_function(settle_, wait, napi_tsfn_nonblocking);
    return true;
  });
  const bool any = settled != waits.end();
  waits.erase(settled, waits.end());
  return any;
}

void Watcher::Settle(napi_env env, napi_value, void* context, void* data) {
  auto* wait = static_cast<Wait*>(data);
  if (env != nullptr) {
    auto* self = static_cast<Watcher*>(context);
    if (--self->pending_ == 0) napi_unref_threadsafe_function(env, self->settle_);
    if (wait->error == kSuccess) {
      napi_value done;
      napi_get_boolean(env, wait->done, &done);
      napi_resolve_deferred(env, wait->deferred, done);
    } else {
      const napi_value error = CallError(env, wait->api, wait->error, wait->call, "Waiting for the GPU");
      napi_reject_deferred(env, wait->deferred, error);
    }
  }
  delete wait;
}

void Watcher::Stop() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    stopping_ = true;
  }
  wake_.NotifyOne();
  pthread_join(thread_, nullptr);
  napi_release_threadsafe_function(settle_, napi_tsfn_abort);
  for (Wait* wait : added_) {
    wait->api.cuEventDestroy_v2(wait->event);
    delete wait;
  }
  added_.clear();
}

}  // namespace gpunvme::cuda
