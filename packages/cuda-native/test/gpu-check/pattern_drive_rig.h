// A queue pair in plain memory, a host that submits any entry, and a PatternDrive at the other end, served by any team.
//
// Pages have 64 bytes and blocks 16, so that a list page holds 8 entries and short transfers need several of them.
#pragma once

#include "pattern_drive.cuh"

#include <vector>

#include "cpu_port.cuh"
#include "device/model_controller.h"
#include "fibers/fiber_team.h"
#include "solo_team.cuh"

namespace model {

using namespace gpunvme;

constexpr uint32_t kFlush = 0, kWrite = 1, kRead = 2;
constexpr uint32_t kPage = 64, kBlock = 16, kPages = 64, kListPages = 8, kNsid = 7, kQid = 3, kSlots = 64;
constexpr uint64_t kBlocks = 1000, kSeed = 0xfedcba9876543210, kDataIova = 0x7f0000001000, kListIova = 0x500000002000;
constexpr uint64_t kUntouched = 0xa5a5a5a5a5a5a5a5;

// CPU threads serve queues alone, a GPU with warps.
struct Solo {
  using Team = SoloTeam;
  template <class Kernel>
  static void run(uint64_t, const Kernel& kernel) {
    run_solo(1, kernel);
  }
};
struct Warp {
  using Team = FiberTeam;
  template <class Kernel>
  static void run(uint64_t seed, const Kernel& kernel) {
    FiberLaunch launch;
    launch.seed = seed;
    run_fibers(launch, kernel);
  }
};

struct Entry {
  uint32_t dword[16];

  void set64(uint32_t first, uint64_t value) {
    dword[first] = static_cast<uint32_t>(value);
    dword[first + 1] = static_cast<uint32_t>(value >> 32);
  }
  void prp1(uint64_t iova) { set64(6, iova); }
  void prp2(uint64_t iova) { set64(8, iova); }
  void slba(uint64_t value) { set64(10, value); }
  void cid(uint32_t value) { dword[0] = (dword[0] & 0xffff) | value << 16; }
};

constexpr uint64_t data_page(uint32_t page) { return kDataIova + page * kPage; }
constexpr uint64_t list_page(uint32_t page) { return kListIova + page * kPage; }

// Blocks from `slba` on, in `first` of `offset` and the pages of `rest`, which `lists` hold if they are more than one.
struct Transfer {
  uint64_t slba;
  uint32_t blocks, first, offset;
  std::vector<uint32_t> rest, lists;

  // Calls `act(address in the data, byte of the namespace)` for each byte.
  template <class Act>
  void each_byte(const Act& act) const {
    for (uint32_t at = 0; at < blocks * kBlock; at++) {
      const uint32_t from_page = offset + at, page = from_page / kPage;
      act((page == 0 ? first : rest[page - 1]) * kPage + from_page % kPage, slba * kBlock + at);
    }
  }
};

struct Completion {
  uint32_t cid, sq_head;
};

// Moves data, and completes each command once, in order.
inline DrivePlan no_faults() {
  DrivePlan plan = {};
  plan.moves_data = 1;
  return plan;
}

constexpr DriveMemory kData = {kDataIova, kPages * kPage, 0}, kLists = {kListIova, kListPages * kPage, 0};
constexpr DriveNamespace kSpace = {kBlocks, kSeed, kNsid, 4, 64, 6, kData, kLists};

template <class Server>
class DriveRig {
  using Team = typename Server::Team;
  using Drive = PatternDrive<Team, CpuPort>;

 public:
  // The addresses of `space` are set here.
  explicit DriveRig(const DrivePlan& plan = no_faults(), uint32_t entries = 8, DriveNamespace space = kSpace)
      : entries(entries), data(kPages * kPage / 8, kUntouched), lists(kListPages * kPage / 8, kUntouched), cq(2 * entries, 0),
        sq_(16 * entries, 0xffffffff), in_flight_(kSlots, 0) {
    space.data.data = reinterpret_cast<uintptr_t>(data.data());
    space.prp_lists.data = reinterpret_cast<uintptr_t>(lists.data());
    queue.sq = reinterpret_cast<uintptr_t>(sq_.data());
    queue.cq = reinterpret_cast<uintptr_t>(cq.data());
    queue.tail_doorbell = reinterpret_cast<uintptr_t>(&tail_doorbell);
    queue.head_doorbell = reinterpret_cast<uintptr_t>(&head_doorbell_);
    queue.in_flight = reinterpret_cast<uintptr_t>(in_flight_.data());
    queue.entries = entries;
    queue.qid = kQid;
    queue.slots = kSlots;
    for (uint32_t lane = 0; lane < Team::kLanes; lane++) drives_.emplace_back(queue, space, plan);
  }
  DriveRig(const DriveRig&) = delete;

  // Writes the next entry, without the doorbell.
  void stage(const Entry& entry) {
    memcpy(&sq_[16 * tail_], entry.dword, sizeof entry.dword);
    tail_ = (tail_ + 1) % entries;
  }
  void ring() { tail_doorbell = tail_; }
  void submit(const Entry& entry) {
    stage(entry);
    ring();
  }
  // Submits Flush commands with these identifiers.
  void submit_flushes(uint32_t first_cid, uint32_t count) {
    for (uint32_t cid = first_cid; cid < first_cid + count; cid++) submit(entry_of(kFlush, cid));
  }

  static Entry entry_of(uint32_t opcode, uint32_t cid) { return {{opcode | cid << 16, kNsid}}; }
  // Also writes the PRP lists.
  Entry entry_of(uint32_t opcode, uint32_t cid, const Transfer& transfer) {
    Entry entry = entry_of(opcode, cid);
    entry.prp1(data_page(transfer.first) + transfer.offset);
    const size_t count = transfer.rest.size();
    if (count == 1) entry.prp2(data_page(transfer.rest[0]));
    if (count > 1) entry.prp2(list_page(transfer.lists[0]));
    for (size_t i = 0, list = 0, at = 0; count > 1 && i < count; i++, at++) {
      if (at == 7 && count - i > 1) {
        lists[transfer.lists[list] * 8 + 7] = list_page(transfer.lists[list + 1]);
        list++;
        at = 0;
      }
      lists[transfer.lists[list] * 8 + at] = data_page(transfer.rest[i]);
    }
    entry.slba(transfer.slba);
    entry.dword[12] = transfer.blocks - 1;
    return entry;
  }

  bool turn() {
    std::vector<int> results(Team::kLanes, -1);
    Server::run(turns_++, [&] { results[Team::lane()] = drives_[Team::lane()].turn(); });
    for (const int result : results) REQUIRE(result == results[0], "lanes return %d and %d", result, results[0]);
    return results[0] != 0;
  }
  void report() {
    Server::run(0, [&] { drives_[Team::lane()].report(); });
  }

  // Returns the new completions, up to `limit`, without the head doorbell.
  std::vector<Completion> poll(uint32_t limit = 1000) {
    std::vector<Completion> found;
    for (; found.size() < limit; polled_++) {
      const uint64_t* entry = &cq[2 * (polled_ % entries)];
      if ((entry[1] >> 48 & 1) == (polled_ / entries) % 2) break;
      REQUIRE(entry[0] == 0 && entry[1] >> 49 == 0, "completion %u has a status or a result", polled_);
      REQUIRE((entry[1] >> 16 & 0xffff) == kQid, "completion %u is of another queue", polled_);
      found.push_back({static_cast<uint32_t>(entry[1] >> 32 & 0xffff), static_cast<uint32_t>(entry[1] & 0xffff)});
    }
    return found;
  }
  // Frees `count` entries of the completion queue.
  void release(uint32_t count) { head_doorbell_ = (head_doorbell_ + count) % entries; }

  // Polls, releases, and returns the identifiers.
  std::vector<uint32_t> take() {
    std::vector<uint32_t> cids;
    for (const Completion& completion : poll()) cids.push_back(completion.cid);
    release(static_cast<uint32_t>(cids.size()));
    return cids;
  }

  // Serves one command alone. Returns its mistake; the command is completed all the same.
  Mistake judge(const Entry& entry) {
    queue.mistakes = queue.first_mistake = 0;
    submit(entry);
    turn();
    REQUIRE(take() == std::vector<uint32_t>{entry.dword[0] >> 16}, "not completed once");
    REQUIRE(queue.mistakes == (queue.first_mistake != 0), "%llu mistakes", ull(queue.mistakes));
    return static_cast<Mistake>(queue.first_mistake);
  }

  uint8_t* bytes() { return reinterpret_cast<uint8_t*>(data.data()); }

  const uint32_t entries;
  uint32_t tail_doorbell = 0;
  std::vector<uint64_t> data, lists, cq;
  DriveQueue queue = {};

 private:
  std::vector<uint32_t> sq_, in_flight_;
  uint32_t head_doorbell_ = 0, tail_ = 0, polled_ = 0;
  uint64_t turns_ = 0;
  std::vector<Drive> drives_;
};

using Cids = std::vector<uint32_t>;

inline void expect_cids(const char* what, const Cids& cids, const Cids& expected) {
  if (cids == expected) return;
  fprintf(stderr, "completed:");
  for (const uint32_t cid : cids) fprintf(stderr, " %u", cid);
  fprintf(stderr, "\n");
  fail("%s", what);
}

struct Named {
  const char* name;
  void (*run)();
};

// Runs `Cases<Server>::all()` of the name in the arguments: SERVER CASE.
template <template <class> class Cases>
void run_case(int count, char** args) {
  REQUIRE(count == 3, "expected SERVER CASE");
  for (const Named& named : strcmp(args[1], "warp") == 0 ? Cases<Warp>::all() : Cases<Solo>::all())
    if (strcmp(args[2], named.name) == 0) return named.run();
  fail("no case %s", args[2]);
}

inline uint8_t pattern_byte(uint64_t at) { return static_cast<uint8_t>(pattern_word(kSeed, at / 8) >> at % 8 * 8); }

}  // namespace model
