// A load of two warps; the argument is the number of warps that start. Prints the number of reads, and of warps that
// have ended.
#include "drive_load.cuh"

#include <cstdio>
#include <cstdlib>

#include "fibers/fiber_team.h"
#include "standin/fiber_port.h"

int main(int, char** arguments) {
  using namespace gpunvme;
  const auto warps = static_cast<uint64_t>(std::atoi(arguments[1]));
  DriveTotals totals = {};
  totals.first_start_ns = totals.last_end_ns = ~0ULL;
  // Both warps count themselves.
  totals.started = warps - 2;
  DriveLoad load = {};
  // All warps start at once unless this thread is descheduled, so only a missing one needs a short limit.
  load.device.timeout_ns = warps == 2 ? 60'000'000'000 : 1'000'000;
  load.space.blocks = 1024;
  load.space.block_shift = 9;
  load.rounds = 3;
  load.blocks = 1;
  load.places = 32;
  unsigned reads = 0;
  run_fibers(standin::PollingLaunch(1, 64), [&] {
    load_drive<FiberTeam, standin::FiberPort>(load, totals, [&](uint64_t, uint64_t) {
      reads++;
      return gnv::Outcome(refusal(GNV_SUCCESS));
    });
  });
  std::printf("%u %u\n", reads, static_cast<unsigned>(totals.ended));
}
