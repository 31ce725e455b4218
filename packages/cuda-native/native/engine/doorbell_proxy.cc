#include "doorbell_proxy.h"

#include <emmintrin.h>
#include <time.h>

#include <cstring>
#include <utility>

#include "../thread.h"

namespace gpunvme {

namespace {

// After a doorbell, polls for about a millisecond without sleeping, then sleeps between polls: an idle engine uses little
// CPU time.
constexpr uint32_t kEagerPolls = 20'000;
constexpr timespec kPause = {0, 20'000};

}  // namespace

Problem DoorbellProxy::Start(std::vector<Doorbell> tails, std::vector<Doorbell> heads) {
  tails_ = std::move(tails);
  heads_ = std::move(heads);
  seen_.resize(tails_.size());
  __atomic_store_n(&ending_, false, __ATOMIC_RELEASE);
  const auto run = [](void* self) -> void* {
    static_cast<DoorbellProxy*>(self)->Run();
    return nullptr;
  };
  const int error = StartThread(&thread_, "gpunvme-ring", run, this);
  if (error != 0) return {"pthread_create", "error " + std::to_string(error), std::strerror(error), error};
  started_ = true;
  return {};
}

void DoorbellProxy::Stop(bool forward) {
  if (!started_) return;
  __atomic_store_n(&ending_, true, __ATOMIC_RELEASE);
  pthread_join(thread_, nullptr);
  started_ = false;
  if (forward) Forward();
}

void DoorbellProxy::Run() {
  for (uint32_t silent = 0; !__atomic_load_n(&ending_, __ATOMIC_ACQUIRE);) {
    silent = Forward() ? 0 : silent + 1;
    if (silent < kEagerPolls) _mm_pause();
    else nanosleep(&kPause, nullptr);
  }
}

bool DoorbellProxy::Forward() {
  const auto load = [](const Doorbell& each) { return __atomic_load_n(each.word, __ATOMIC_ACQUIRE); };
  bool rung = false;
  const auto store = [&rung](Doorbell& each, uint32_t value) {
    if (value == each.value) return;
    each.value = value;
    __atomic_store_n(each.target, value, __ATOMIC_RELEASE);
    rung = true;
  };
  // All tails are loaded before the heads, and stored after them: no tail overtakes a head that was rung before it.
  for (size_t index = 0; index < tails_.size(); index++) seen_[index] = load(tails_[index]);
  for (Doorbell& head : heads_) store(head, load(head));
  for (size_t index = 0; index < tails_.size(); index++) store(tails_[index], seen_[index]);
  return rung;
}

}  // namespace gpunvme
