// The bounds of what a session is given: with them, every index and address that leaders compute lies inside the memory of
// its queue, its table of runs, or its registers. Addresses themselves cannot be checked.
#pragma once

#include <string>
#include <vector>

#include "session.h"

namespace gpunvme {

// Queues of a controller, and therefore queues that plans can name.
constexpr size_t kMaxQueues = 65535;

// Bytes that one command can transfer, wherever they begin in a page, with the list pages of one slot: prpListReach of
// @gpunvme/nvme-spec.
uint64_t ReachOf(const PairLayout& pair);

// What is wrong with queues; empty if nothing is.
std::string ProblemOf(const Memory& registers, const std::vector<LeaderLayout>& leaders);

}  // namespace gpunvme
