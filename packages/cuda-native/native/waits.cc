#include "waits.h"

#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>

#include "clock.h"
#include "values.h"

namespace gpunvme {

struct Wait {
  int fd;
  double deadlineNs;
  napi_deferred deferred;
  bool readable;
  int error;
};

napi_value Waits::Add(napi_env env, int fd, double timeoutNs) {
  if (!started_ && !Start(env)) return nullptr;
  napi_value promise;
  auto* wait = new Wait{fd, NowNs() + timeoutNs, nullptr, false, 0};
  napi_create_promise(env, &wait->deferred, &promise);
  // Pending waits keep the program alive.
  if (pending_++ == 0) napi_ref_threadsafe_function(env, settle_);
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    active_.push_back(wait);
  }
  eventfd_write(wake_, 1);
  return promise;
}

bool Waits::Start(napi_env env) {
  wake_ = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
  if (wake_ < 0) {
    ThrowSystem(env, errno, "eventfd");
    return false;
  }
  napi_value name;
  napi_create_string_utf8(env, "gpunvme.waitReadable", NAPI_AUTO_LENGTH, &name);
  napi_create_threadsafe_function(env, nullptr, nullptr, name, 0, 1, nullptr, nullptr, this, Settle, &settle_);
  napi_unref_threadsafe_function(env, settle_);
  // Signals are left to the program's threads.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  const auto run = [](void* self) -> void* {
    static_cast<Waits*>(self)->Run();
    return nullptr;
  };
  const int error = pthread_create(&thread_, nullptr, run, this);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (error != 0) {
    napi_release_threadsafe_function(settle_, napi_tsfn_abort);
    close(wake_);
    ThrowSystem(env, error, "pthread_create");
    return false;
  }
  // Hooks run in reverse order, so the thread has ended before the runtime deletes `settle_`.
  napi_add_env_cleanup_hook(env, [](void* self) { static_cast<Waits*>(self)->Stop(); }, this);
  started_ = true;
  return true;
}

void Waits::Run() {
  std::vector<pollfd> polled;
  std::vector<Wait*> waits;
  while (true) {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      if (stopping_) return;
      waits = active_;
    }
    polled.assign(1, {wake_, POLLIN, 0});
    double untilNs = 0;
    for (const Wait* wait : waits) {
      polled.push_back({wait->fd, POLLIN, 0});
      untilNs = polled.size() == 2 ? wait->deadlineNs : std::min(untilNs, wait->deadlineNs);
    }
    timespec timeout{};
    if (!waits.empty()) {
      const double leftNs = std::max(0.0, untilNs - NowNs());
      timeout.tv_sec = static_cast<time_t>(leftNs / 1e9);
      timeout.tv_nsec = static_cast<long>(leftNs - static_cast<double>(timeout.tv_sec) * 1e9);
    }
    const int ready = ppoll(polled.data(), polled.size(), waits.empty() ? nullptr : &timeout, nullptr);
    const int error = ready < 0 ? errno : 0;
    if (error == EINTR) continue;
    eventfd_t ignored;
    eventfd_read(wake_, &ignored);
    const double nowNs = NowNs();
    for (size_t i = 0; i < waits.size(); i++) {
      const short events = error == 0 ? polled[i + 1].revents : 0;
      if (error != 0) {
        Finish(waits[i], false, error);
      } else if ((events & POLLNVAL) != 0) {
        Finish(waits[i], false, EBADF);
      } else if (events != 0) {
        Finish(waits[i], true, 0);
      } else if (nowNs >= waits[i]->deadlineNs) {
        Finish(waits[i], false, 0);
      }
    }
  }
}

void Waits::Finish(Wait* wait, bool readable, int error) {
  wait->readable = readable;
  wait->error = error;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    active_.erase(std::find(active_.begin(), active_.end(), wait));
  }
  napi_call_threadsafe_function(settle_, wait, napi_tsfn_nonblocking);
}

void Waits::Settle(napi_env env, napi_value, void* context, void* data) {
  auto* wait = static_cast<Wait*>(data);
  if (env != nullptr) {
    auto* self = static_cast<Waits*>(context);
    if (--self->pending_ == 0) napi_unref_threadsafe_function(env, self->settle_);
    if (wait->error == 0) {
      napi_value readable;
      napi_get_boolean(env, wait->readable, &readable);
      napi_resolve_deferred(env, wait->deferred, readable);
    } else {
      napi_reject_deferred(env, wait->deferred, SystemError(env, wait->error, "poll"));
    }
  }
  delete wait;
}

void Waits::Stop() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    stopping_ = true;
  }
  eventfd_write(wake_, 1);
  pthread_join(thread_, nullptr);
  napi_release_threadsafe_function(settle_, napi_tsfn_abort);
  close(wake_);
  for (Wait* wait : active_) delete wait;
  active_.clear();
}

}  // namespace gpunvme
