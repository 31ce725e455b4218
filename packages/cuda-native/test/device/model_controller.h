// The controller's side of queues, written from the specification and not from the code under test: fetches entries, checks
// every field, transfers data by PRPs, and posts completions in any order. A test decides when, and for which commands.
#pragma once

#include <gpunvme/nvme_spec.h>

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <vector>

namespace model {

// Prints details after a failure, such as seed and schedule. Set by the test.
inline void (*explain)() = nullptr;

[[noreturn]] inline void fail(const char* format, ...) {
  va_list args;
  va_start(args, format);
  fprintf(stderr, "failed: ");
  vfprintf(stderr, format, args);
  fprintf(stderr, "\n");
  va_end(args);
  if (explain != nullptr) explain();
  exit(1);
}

#define REQUIRE(condition, ...)               \
  do {                                        \
    if (!(condition)) model::fail(__VA_ARGS__); \
  } while (0)

using ull = unsigned long long;

// Loads a word that another thread stores, with acquire order.
template <class Word>
Word load(const Word* at) {
  return __atomic_load_n(at, __ATOMIC_ACQUIRE);
}

class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed * 0x9e3779b97f4a7c15 + 0x2545f4914f6cdd1d) {}
  uint64_t next() {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 7;
    state_ ^= state_ << 17;
    return state_ * 0x2545f4914f6cdd1d >> 16;
  }
  uint32_t below(uint64_t limit) { return static_cast<uint32_t>(next() % limit); }
  bool once_in(uint32_t times) { return below(times) == 0; }

 private:
  uint64_t state_;
};

// Expected fields of a command, and what the controller did with it. Commands are identified by SLBA, which is unique.
struct Expected {
  uint32_t pair;
  uint32_t opcode;
  uint32_t nsid;
  uint32_t blocks;
  // Offset of its data in the test's memory.
  uint64_t offset;
  // Set by the controller.
  uint32_t fetches = 0;
  uint16_t cid = 0;
  bool completed = false;
  // 15 bits, without the Phase Tag.
  uint16_t status = 0;
  // Offset of a word of the media with a flipped bit.
  uint64_t flipped_at = UINT64_MAX;
};

// A range of memory that the controller can access.
struct Range {
  uint64_t iova;
  uint64_t bytes;
  uint8_t* host;
};

struct Segment {
  uint8_t* host;
  uint64_t bytes;
  bool operator==(const Segment& other) const { return host == other.host && bytes == other.bytes; }
};

// Returns the word at byte `at` of the data of the command at `slba`.
inline uint32_t pattern(uint64_t slba, uint64_t at) { return static_cast<uint32_t>(slba * 2654435761u ^ (at << 3) ^ 0x5bd1e995); }

constexpr uint32_t kFlippedBit = 0x100;

class Controller {
 public:
  struct Sq {
    uint16_t qid;
    const uint32_t* entries_at;
    uint32_t entries;
    const uint32_t* tail_doorbell;
    // Bits of an identifier that are the slot, which is unique among commands in flight.
    uint32_t slot_mask;
    uint32_t head = 0;
  };
  struct Outstanding {
    uint32_t sq;
    uint16_t cid;
    // Index into `expected`.
    uint32_t command;
    uint64_t prp1, prp2;
    std::vector<Segment> segments;
    // The test completes it after its deadline, or never.
    bool dropped = false;
  };

  // `commands` is the maximum number of commands of the test.
  explicit Controller(uint32_t commands = 2048) : expected(commands) {}

  uint32_t page_bytes = 4096;
  uint32_t block_bytes = 512;
  uint64_t first_slba = 1000;
  std::vector<Range> ranges;
  std::vector<Sq> sqs;
  // The first `known` are set. The host adds more while the controller runs.
  std::vector<Expected> expected;
  uint32_t known = 0;
  std::vector<Outstanding> outstanding;
  uint64_t* cq = nullptr;
  uint32_t cq_entries = 0;
  const uint32_t* head_doorbell = nullptr;
  uint32_t cq_tail = 0;
  uint32_t cq_head = 0;
  uint32_t cq_phase = 1;
  // Number of completions posted for no command.
  uint64_t strays = 0;
  uint64_t posted = 0;

  // Returns the number of entries that are announced and not fetched.
  uint32_t announced(const Sq& sq) const {
    const uint32_t tail = load(sq.tail_doorbell);
    REQUIRE(tail < sq.entries, "SQ %u: tail doorbell %u of %u entries", sq.qid, tail, sq.entries);
    return (tail + sq.entries - sq.head) % sq.entries;
  }

  // Fetches an entry. There must be one.
  void fetch(uint32_t number) {
    Sq& sq = sqs[number];
    uint32_t dw[16];
    // Word by word: ThreadSanitizer does not see the wider loads that a compiler uses for a copy.
    for (uint32_t i = 0; i < 16; i++) dw[i] = sq.entries_at[16 * sq.head + i];
    const uint32_t at = sq.head;
    sq.head = (sq.head + 1) % sq.entries;
    const auto check = [&](bool right, const char* what, uint64_t value) {
      REQUIRE(right, "SQ %u entry %u: %s 0x%llx", sq.qid, at, what, static_cast<ull>(value));
    };
    const uint32_t opcode = dw[0] & 0xff;
    const auto cid = static_cast<uint16_t>(dw[0] >> 16);
    check((dw[0] & 0xff00) == 0, "FUSE, PSDT or reserved bits of DW0", dw[0]);
    check(cid != 0xffff, "CID", cid);
    check(dw[2] == 0 && dw[3] == 0, "CDW2 and CDW3", dw[2] | dw[3]);
    check(dw[4] == 0 && dw[5] == 0, "MPTR", dw[4] | dw[5]);
    check(dw[13] == 0 && dw[14] == 0 && dw[15] == 0, "CDW13 to CDW15", dw[13] | dw[14] | dw[15]);
    const uint64_t slba = static_cast<uint64_t>(dw[11]) << 32 | dw[10];
    uint32_t command = 0;
    if (opcode == GPUNVME_NVM_OPCODE_FLUSH) {
      check(slba == 0 && dw[12] == 0, "CDW10 to CDW12 of a Flush", slba | dw[12]);
      while (command < load(&known) && (expected[command].opcode != opcode || expected[command].fetches > 0)) command++;
    } else {
      command = static_cast<uint32_t>(slba - first_slba);
    }
    check(slba < first_slba + expected.size() && command < load(&known), "SLBA", slba);
    Expected& expect = expected[command];
    check(expect.opcode == opcode, "opcode", opcode);
    check(expect.pair == number, "command of another submission queue, SLBA", slba);
    check(expect.nsid == dw[1], "NSID", dw[1]);
    check(expect.fetches++ == 0, "command that was fetched before, SLBA", slba);
    for (const Outstanding& other : outstanding) {
      if (other.sq != number) continue;
      check(other.cid != cid, "CID of a command in flight", cid);
      check(((other.cid ^ cid) & sq.slot_mask) != 0, "slot of a command in flight, CID", cid);
    }
    expect.cid = cid;
    const uint64_t prp1 = static_cast<uint64_t>(dw[7]) << 32 | dw[6];
    const uint64_t prp2 = static_cast<uint64_t>(dw[9]) << 32 | dw[8];
    Outstanding fetched{number, cid, command, prp1, prp2, {}};
    if (opcode == GPUNVME_NVM_OPCODE_FLUSH) {
      check(prp1 == 0 && prp2 == 0, "PRPs of a Flush", prp1 | prp2);
    } else {
      check(dw[12] == expect.blocks - 1, "CDW12", dw[12]);
      fetched.segments = segments(prp1, prp2, static_cast<uint64_t>(expect.blocks) * block_bytes);
    }
    outstanding.push_back(fetched);
  }

  // Returns the number of completions that fit until the host releases entries.
  uint32_t room() {
    const uint32_t head = load(head_doorbell);
    REQUIRE(head < cq_entries, "CQ: head doorbell %u of %u entries", head, cq_entries);
    const uint32_t used = (cq_tail + cq_entries - cq_head) % cq_entries;
    const uint32_t released = (head + cq_entries - cq_head) % cq_entries;
    REQUIRE(released <= used, "CQ: head doorbell %u is beyond the tail, %u", head, cq_tail);
    cq_head = head;
    return cq_entries - 1 - (used - released);
  }

  // Transfers the data of an outstanding command and posts its completion. There must be room.
  void complete(size_t at, uint16_t status = 0) {
    const Outstanding done = outstanding[at];
    outstanding.erase(outstanding.begin() + static_cast<ptrdiff_t>(at));
    Expected& expect = expected[done.command];
    if (expect.opcode != GPUNVME_NVM_OPCODE_FLUSH) {
      const auto now = segments(done.prp1, done.prp2, static_cast<uint64_t>(expect.blocks) * block_bytes);
      REQUIRE(now == done.segments, "CID 0x%x: its PRP list changed while it was in flight", done.cid);
    }
    if (status == 0) move(done);
    expect.completed = true;
    expect.status = status;
    post(sqs[done.sq].qid, done.cid, status);
  }

  // Posts a completion of no command, or a duplicate. There must be room.
  void stray(uint16_t qid, uint16_t cid, uint16_t status = 0) {
    strays++;
    post(qid, cid, status);
  }

  // Posts a completion. There must be room.
  void post(uint16_t qid, uint16_t cid, uint16_t status) {
    REQUIRE(room() > 0, "the test posts a completion, but the queue is full");
    uint64_t* entry = cq + 2 * cq_tail;
    entry[0] = 0xdddddddddddddddd;
    uint32_t sqhd = 0;
    for (const Sq& sq : sqs)
      if (sq.qid == qid) sqhd = sq.head;
    const uint64_t word = static_cast<uint64_t>(status << 1 | cq_phase) << 48 | static_cast<uint64_t>(cid) << 32 |
                          static_cast<uint64_t>(qid) << 16 | sqhd;
    __atomic_store_n(entry + 1, word, __ATOMIC_RELEASE);
    cq_tail = (cq_tail + 1) % cq_entries;
    if (cq_tail == 0) cq_phase ^= 1;
    posted++;
  }

  bool is_outstanding(uint32_t sq, uint16_t cid) const {
    for (const Outstanding& other : outstanding)
      if (other.sq == sq && other.cid == cid) return true;
    return false;
  }

  // Returns the memory that PRP entries describe (Base 2.1 §4.3.1).
  std::vector<Segment> segments(uint64_t prp1, uint64_t prp2, uint64_t bytes) const {
    std::vector<Segment> found;
    const auto add = [&](uint64_t iova, uint64_t length) { found.push_back({at(iova, length), length}); };
    REQUIRE(prp1 % 4 == 0, "PRP1 0x%llx is not aligned to a dword", static_cast<ull>(prp1));
    const uint64_t in_first = page_bytes - prp1 % page_bytes;
    add(prp1, bytes < in_first ? bytes : in_first);
    if (bytes <= in_first) {
      REQUIRE(prp2 == 0, "PRP2 is 0x%llx, but one page has all data", static_cast<ull>(prp2));
      return found;
    }
    uint64_t left = bytes - in_first;
    const auto add_page = [&](uint64_t iova) {
      REQUIRE(iova % page_bytes == 0, "PRP entry 0x%llx is not the address of a page", static_cast<ull>(iova));
      add(iova, left < page_bytes ? left : page_bytes);
      left -= left < page_bytes ? left : page_bytes;
    };
    if (left <= page_bytes) {
      add_page(prp2);
      return found;
    }
    REQUIRE(prp2 % 8 == 0, "PRP list 0x%llx is not aligned to a qword", static_cast<ull>(prp2));
    for (uint64_t entry = prp2; left > 0;) {
      uint64_t value;
      memcpy(&value, at(entry, 8), 8);
      if (entry % page_bytes == page_bytes - 8 && left > page_bytes) {
        REQUIRE(value % page_bytes == 0, "PRP list continues at 0x%llx, inside a page", static_cast<ull>(value));
        entry = value;
      } else {
        add_page(value);
        entry += 8;
      }
    }
    return found;
  }

 private:
  uint8_t* at(uint64_t iova, uint64_t bytes) const {
    for (const Range& range : ranges)
      if (iova >= range.iova && iova + bytes <= range.iova + range.bytes) return range.host + (iova - range.iova);
    fail("an entry refers to %llu bytes at 0x%llx, outside the controller's memory", static_cast<ull>(bytes),
         static_cast<ull>(iova));
  }

  void move(const Outstanding& command) const {
    const uint64_t slba = first_slba + command.command;
    uint64_t at = 0;
    for (const Segment& segment : command.segments) {
      for (uint64_t i = 0; i < segment.bytes; i += 4, at += 4) {
        uint32_t word = pattern(slba, at);
        if (expected[command.command].opcode == GPUNVME_NVM_OPCODE_READ) {
          if (at == expected[command.command].flipped_at) word ^= kFlippedBit;
          memcpy(segment.host + i, &word, 4);
        } else {
          memcpy(&word, segment.host + i, 4);
          REQUIRE(word == pattern(slba, at), "write to SLBA %llu: wrong data", static_cast<ull>(slba));
        }
      }
    }
  }
};

}  // namespace model
