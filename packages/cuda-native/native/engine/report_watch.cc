#include "report_watch.h"

#include <sys/prctl.h>

#include <algorithm>
#include <chrono>
#include <cstring>

#include "../thread.h"
#include "share.cuh"
#include "waker.h"

namespace gpunvme {

namespace {

// A plan takes at least tens of microseconds. Polls are frequent at first, and then become rarer to save CPU time.
constexpr std::chrono::microseconds kFirstPause{10}, kLongestPause{200};

uint64_t Load(const uint64_t* word) { return __atomic_load_n(word, __ATOMIC_ACQUIRE); }

}  // namespace

ReportWatch::~ReportWatch() {
  if (!started_) return;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    ending_ = true;
  }
  wake_.NotifyOne();
  pthread_join(thread_, nullptr);
}

Problem ReportWatch::Start() {
  if (started_) return {};
  const auto run = [](void* self) -> void* {
    static_cast<ReportWatch*>(self)->Run();
    return nullptr;
  };
  const int error = StartThread(&thread_, "gpunvme-watch", run, this);
  if (error != 0) return {"pthread_create", "error " + std::to_string(error), std::strerror(error), error};
  started_ = true;
  return {};
}

void ReportWatch::Add(const Report* report, uint64_t launch) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    added_.push_back({report, launch, ~0ULL});
  }
  wake_.NotifyOne();
}

void ReportWatch::Expect() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    expects_ = true;
  }
  wake_.NotifyOne();
}

void ReportWatch::Run() {
  // By default, the timer slack of Linux adds 50 us to each pause.
  prctl(PR_SET_TIMERSLACK, 1);
  std::vector<Watched> watched;
  std::chrono::microseconds pause = kFirstPause;
  for (;;) {
    {
      std::unique_lock<std::mutex> lock(mutex_);
      if (watched.empty()) wake_.Wait(lock, [&] { return ending_ || !added_.empty(); });
      else wake_.WaitFor(lock, pause, [&] { return ending_ || expects_ || !added_.empty(); });
      if (ending_) return;
      pause = expects_ || !added_.empty() ? kFirstPause : std::min(2 * pause, kLongestPause);
      expects_ = false;
      watched.insert(watched.end(), added_.begin(), added_.end());
      added_.clear();
    }
    if (Look(watched)) {
      waker_->Wake();
      pause = kFirstPause;
    }
  }
}

bool ReportWatch::Look(std::vector<Watched>& watched) {
  bool told = false;
  const auto over = [&](Watched& each) {
    // `ended` is loaded first, so that earlier progress is visible.
    const bool ended = Load(&each.report->ended) >= each.launch;
    const uint64_t progress = Load(&each.report->progress);
    told = told || ended || (progress != each.progress && each.progress != ~0ULL);
    told = told || (each.progress == ~0ULL && progress > 0);
    each.progress = progress;
    return ended;
  };
  watched.erase(std::remove_if(watched.begin(), watched.end(), over), watched.end());
  return told;
}

}  // namespace gpunvme
