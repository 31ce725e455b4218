// Bounds of the arguments of a session. They ensure that every index and address computed by leaders lies inside the memory
// of its queue, its table of runs, or its registers. The addresses of this memory cannot be checked.
#pragma once

#include <string>
#include <vector>

#include "queue_layout.h"

namespace gpunvme {

// Maximum number of queues of a controller, and therefore of queues that plans can name.
constexpr size_t kMaxQueues = 65535;

// Maximum bytes of one command with the list pages of one slot, for any offset in a page: prpListMaxTransfer of
// @gpunvme/nvme-spec.
uint64_t ReachOf(const QueueLayout& queue);

// Returns the first error in the queues; empty if they are valid.
std::string ProblemOf(const Memory& registers, const std::vector<QueueLayout>& queues);

}  // namespace gpunvme
