#include "parking.h"

#include <time.h>

namespace gpunvme::cuda {

namespace {

// A paused kernel ends within microseconds; the limit allows for a busy machine. The JavaScript thread waits.
constexpr uint64_t kLimitNs = 1'000'000'000;
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
  for (Parkable* each : parking_.parkables) each->Pause();
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
    if (now_ns - start_ns > kLimitNs) break;
    nanosleep(&kPause, nullptr);
  }
  ok_ = false;
}

uint64_t Parked::limit_ns() { return kLimitNs; }

Parked::~Parked() {
  if (--parking_.depth > 0) return;
  for (Parkable* each : parking_.parkables) each->Resume();
}

}  // namespace gpunvme::cuda
