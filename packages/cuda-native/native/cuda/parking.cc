#include "parking.h"

#include <time.h>

#include <algorithm>

namespace gpunvme::cuda {

namespace {

// A kernel with nothing in flight ends within microseconds; the margin allows for a busy machine.
constexpr uint64_t kMarginNs = 1'000'000'000;
// Upper limit, whatever the commands' time limits are: the JavaScript thread waits.
constexpr uint64_t kMostNs = 10'000'000'000;
// If the driver returns only errors for this long, no kernel can still be running.
constexpr uint64_t kBrokenNs = 200'000'000;
constexpr timespec kPause = {0, 20'000};

uint64_t NowNs() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1000000000 + static_cast<uint64_t>(now.tv_nsec);
}

}  // namespace

Parked::Parked(Parking& parking) : parking_(parking) {
  if (parking_.depth++ > 0) return;
  for (Parkable* each : parking_.parkables) {
    each->Pause();
    limit_ns_ = std::max(limit_ns_, each->LongestNs());
  }
  limit_ns_ = std::min(limit_ns_, kMostNs) + kMarginNs;
  const uint64_t start_ns = NowNs();
  for (uint64_t well_ns = start_ns;;) {
    bool resting = true, running = false;
    for (Parkable* each : parking_.parkables) {
      const Parkable::State state = each->Look();
      resting = resting && state == Parkable::State::kResting;
      running = running || state == Parkable::State::kRunning;
    }
    if (resting) return;
    const uint64_t now_ns = NowNs();
    if (running) well_ns = now_ns;
    if (now_ns - well_ns > kBrokenNs) return;
    if (now_ns - start_ns > limit_ns_) break;
    nanosleep(&kPause, nullptr);
  }
  ok_ = false;
}

Parked::~Parked() {
  if (--parking_.depth > 0) return;
  for (Parkable* each : parking_.parkables) each->Resume();
}

}  // namespace gpunvme::cuda
