#pragma once

#include <time.h>

namespace gpunvme {

// Returns CLOCK_MONOTONIC in nanoseconds, for deadlines.
inline double NowNs() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

}  // namespace gpunvme
