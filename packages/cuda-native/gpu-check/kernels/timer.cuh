// Measures the step of the device's clock, which is the resolution of time-outs.
#pragma once

#include "target.cuh"

namespace gpunvme {

// Six words, which the host writes and reads.
struct TimerRun {
  uint64_t reads;
  // Results: number of changes, smallest and largest change, and time from the first change to the last.
  uint64_t steps;
  uint64_t least_ns;
  uint64_t most_ns;
  uint64_t span_ns;
  // Number of changes to an earlier time.
  uint64_t backwards;
};
static_assert(sizeof(TimerRun) == 48, "written by the host");

template <class Port>
GPUNVME_DEVICE void timer_steps(TimerRun& run) {
  const uint64_t reads = run.reads;
  uint64_t steps = 0, least = ~0ULL, most = 0, backwards = 0;
  uint64_t first = 0;
  uint64_t before = Port::now_ns();
  GPUNVME_ROLLED
  for (uint64_t read = 0; read < reads; read++) {
    const uint64_t now = Port::now_ns();
    if (now == before) continue;
    if (now < before) {
      backwards++;
    } else if (first == 0) {
      // The first read was in the middle of a step.
      first = now;
    } else {
      const uint64_t step = now - before;
      if (step < least) least = step;
      if (step > most) most = step;
      steps++;
    }
    before = now;
  }
  run.steps = steps;
  run.least_ns = least;
  run.most_ns = most;
  run.span_ns = before - first;
  run.backwards = backwards;
}

}  // namespace gpunvme
