#include "checks.h"

#include "run_table.h"

namespace gpunvme {

namespace {

constexpr uint32_t kSqEntryBytes = 64, kCqEntryBytes = 16, kMaxEntries = 65536;
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
  void Note(std::string problem) {
    if (first_.empty()) first_ = std::move(problem);
  }
  const std::string& first() const { return first_; }

 private:
  std::string first_;
};

void CheckDoorbell(Bounds* bounds, const char* name, uint64_t offset, const Memory& registers) {
  bounds->Multiple(name, offset, sizeof(uint32_t));
  bounds->Range(name, offset, 0, registers.bytes < sizeof(uint32_t) ? 0 : registers.bytes - sizeof(uint32_t));
}

void CheckPair(Bounds* bounds, const PairLayout& pair, const Memory& registers) {
  bounds->Range("qid", pair.qid, 1, kMaxQueues);
  bounds->Range("sqEntries", pair.sq_entries, 2, kMaxEntries);
  bounds->Range("sqTail", pair.sq_tail, 0, pair.sq_entries - 1);
  bounds->AtLeast("sq", pair.sq.bytes, uint64_t{pair.sq_entries} * kSqEntryBytes);
  bounds->Range("maxInFlight", pair.in_flight, 1, pair.sq_entries - 1);
  bounds->Range("slotBits", pair.slot_bits, 0, 16);
  if (pair.slot_bits <= 16) bounds->Range("maxInFlight", pair.in_flight, 1, 1u << pair.slot_bits);
  bounds->Range("pageBytes", pair.page_bytes, kMinPageBytes, kMaxPageBytes);
  if ((pair.page_bytes & (pair.page_bytes - 1)) != 0) bounds->Note(Expected("pageBytes", "a power of two", pair.page_bytes));
  bounds->Multiple("prpListBytes", pair.prp_list_bytes, pair.page_bytes);
  const uint64_t lists = uint64_t{pair.in_flight} * pair.prp_list_bytes;
  bounds->AtLeast("prpLists", pair.prp_lists.bytes, lists);
  bounds->AtLeast("prpListRuns", pair.prp_list_runs->bytes(), lists);
  CheckDoorbell(bounds, "sqTailDoorbell", pair.tail_doorbell, registers);
}

}  // namespace

uint64_t ReachOf(const PairLayout& pair) {
  const uint64_t pages = pair.prp_list_bytes / pair.page_bytes;
  return pages == 0 ? pair.page_bytes : (pages * (pair.page_bytes / 8 - 1) + 1) * pair.page_bytes;
}

std::string ProblemOf(const Memory& registers, const std::vector<LeaderLayout>& leaders) {
  Bounds bounds;
  bounds.Range("leaders", leaders.size(), 1, kMaxQueues);
  bounds.AtLeast("registers", registers.bytes, sizeof(uint32_t));
  size_t pairs = 0;
  for (const LeaderLayout& leader : leaders) {
    pairs += leader.pairs.size();
    bounds.Range("pairs", leader.pairs.size(), 1, kMaxQueues);
    bounds.Range("cqEntries", leader.cq_entries, 2, kMaxEntries);
    bounds.Range("cqHead", leader.cq_head, 0, leader.cq_entries - 1);
    bounds.Range("phase", leader.phase, 0, 1);
    bounds.AtLeast("cq", leader.cq.bytes, uint64_t{leader.cq_entries} * kCqEntryBytes);
    CheckDoorbell(&bounds, "headDoorbell", leader.head_doorbell, registers);
    for (const PairLayout& pair : leader.pairs) CheckPair(&bounds, pair, registers);
  }
  bounds.Range("pairs", pairs, 1, kMaxQueues);
  return bounds.first();
}

}  // namespace gpunvme
