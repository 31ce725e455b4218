#include "checks.h"

#include <algorithm>

#include "run_table.h"

namespace gpunvme {

namespace {

constexpr uint32_t kSqEntryBytes = 64, kCqEntryBytes = 16, kMaxEntries = 65536;
// gnv_queue::slot_count.
constexpr uint32_t kMaxInFlight = 4095;
// CC.MPS has 4 bits: pages of up to 2^(12 + 15) bytes. Tests use small pages.
constexpr uint32_t kMinPageBytes = 64, kMaxPageBytes = 1u << 27;

std::string Expected(const char* name, const std::string& expected, uint64_t got) {
  return std::string(name) + ": expected " + expected + ", got " + std::to_string(got);
}

// Finds the first value out of bounds.
class Bounds {
 public:
  void Range(const char* name, uint64_t value, uint64_t least, uint64_t most) {
    if (value >= least && value <= most) return;
    Note(Expected(name, std::to_string(least) + " to " + std::to_string(most), value));
  }
  void AtLeast(const char* name, uint64_t value, uint64_t least) {
    if (value < least) Note(Expected(name, "at least " + std::to_string(least) + " bytes", value));
  }
  void Multiple(const char* name, uint64_t value, uint64_t of) {
    if (of == 0 || value % of != 0) Note(Expected(name, "a multiple of " + std::to_string(of), value));
  }
  void PowerOfTwo(const char* name, uint64_t value) {
    if ((value & (value - 1)) != 0) Note(Expected(name, "a power of two", value));
  }
  const std::string& first() const { return first_; }

 private:
  void Note(std::string problem) {
    if (first_.empty()) first_ = std::move(problem);
  }

  std::string first_;
};

void CheckDoorbell(Bounds* bounds, const char* name, uint64_t offset, const Memory& registers) {
  bounds->Multiple(name, offset, sizeof(uint32_t));
  bounds->Range(name, offset, 0, registers.bytes < sizeof(uint32_t) ? 0 : registers.bytes - sizeof(uint32_t));
}

void CheckQueue(Bounds* bounds, const QueueLayout& queue, const Memory& registers) {
  bounds->Range("qid", queue.qid, 1, kMaxQueues);
  bounds->Range("entries", queue.entries, 2, kMaxEntries);
  bounds->PowerOfTwo("entries", queue.entries);
  bounds->Range("sqTail", queue.sq_tail, 0, queue.entries - 1);
  bounds->Range("cqHead", queue.cq_head, 0, queue.entries - 1);
  bounds->Range("phase", queue.phase, 0, 1);
  bounds->AtLeast("sq", queue.sq.bytes, uint64_t{queue.entries} * kSqEntryBytes);
  bounds->AtLeast("cq", queue.cq.bytes, uint64_t{queue.entries} * kCqEntryBytes);
  bounds->Range("maxInFlight", queue.in_flight, 1, std::min(queue.entries - 1, kMaxInFlight));
  bounds->Range("pageBytes", queue.page_bytes, kMinPageBytes, kMaxPageBytes);
  bounds->PowerOfTwo("pageBytes", queue.page_bytes);
  bounds->Multiple("prpListBytes", queue.prp_list_bytes, queue.page_bytes);
  const uint64_t lists = uint64_t{queue.in_flight} * queue.prp_list_bytes;
  bounds->AtLeast("prpLists", queue.prp_lists.bytes, lists);
  bounds->AtLeast("prpListRuns", queue.prp_list_runs->bytes(), lists);
  CheckDoorbell(bounds, "sqTailDoorbell", queue.tail_doorbell, registers);
  CheckDoorbell(bounds, "cqHeadDoorbell", queue.head_doorbell, registers);
}

}  // namespace

uint64_t ReachOf(const QueueLayout& queue) {
  const uint64_t pages = queue.prp_list_bytes / queue.page_bytes;
  return pages == 0 ? queue.page_bytes : (pages * (queue.page_bytes / 8 - 1) + 1) * queue.page_bytes;
}

std::string ProblemOf(const Memory& registers, const std::vector<QueueLayout>& queues) {
  Bounds bounds;
  bounds.Range("queues", queues.size(), 1, kMaxQueues);
  bounds.AtLeast("registers", registers.bytes, sizeof(uint32_t));
  for (const QueueLayout& queue : queues) CheckQueue(&bounds, queue, registers);
  return bounds.first();
}

}  // namespace gpunvme
