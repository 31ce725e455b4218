// A table of random experts on the drives of a SharedRig, fetches of them, and checks of all results. For any team and port.
#pragma once

#include <algorithm>
#include <set>

#include "fetch.cuh"
#include "shared_rig.h"

namespace model {

// CRC-32/ISO-HDLC, bit by bit.
inline uint32_t crc32_of(const std::vector<uint8_t>& bytes) {
  uint32_t crc = 0xffffffff;
  for (const uint8_t byte : bytes) {
    crc ^= byte;
    for (int bit = 0; bit < 8; bit++) crc = crc >> 1 ^ ((crc & 1) != 0 ? 0xedb88320 : 0);
  }
  return ~crc;
}

struct FetchLayout {
  uint32_t layers = 2;
  uint32_t experts = 6;
  uint32_t positions = 8;
  // Of an extent.
  uint32_t max_bytes = 900;
  // Of a read; 0: as the drive allows.
  uint64_t max_read_bytes = 0;
  SharedLayout shared = {};
};

class FetchRig {
  struct Read {
    uint32_t command, blocks;
    // Data of the extent in it, from its first byte.
    uint64_t begin, end;
  };
  struct Extent {
    uint32_t drive;
    gnv_extent entry;
    std::vector<Read> reads;
  };
  struct Expert {
    uint64_t bytes = 0;
    std::vector<uint32_t> extents;
  };
  // Before the public members, which are made from them.
  std::vector<Extent> extents_;
  std::vector<Expert> experts_;

 public:
  static constexpr uint32_t kMaxExtents = 4, kBlock = 1 << SharedRig::kBlockShift;
  // Memory between destinations, which stays unchanged.
  static constexpr uint64_t kGap = 48;

  FetchRig(FetchLayout from, Random& random)
      : layout(from), rig(lay_out(from, random)), ids(from.positions), destinations(from.positions),
        results(from.positions), progress(from.positions), crcs(from.positions * kMaxExtents) {
    for (const Extent& extent : extents_) {
      for (const Read& read : extent.reads)
        for (auto& queue : rig.queues) expected(*queue, read) = {0, GPUNVME_NVM_OPCODE_READ, SharedRig::kNsid, read.blocks, 0};
    }
    rig.begin();
    write_table();
  }

  // Prepares a fetch of random experts: some twice, some that do not exist, some without room, some to be skipped.
  gnv_fetch prepare(Random& random) {
    for (const Extent& extent : extents_)
      for (const Read& read : extent.reads)
        for (auto& queue : rig.queues) {
          expected(*queue, read).fetches = 0;
          expected(*queue, read).completed = false;
          expected(*queue, read).flipped_at = UINT64_MAX;
        }
    // One word in some of the reads, at a multiple of 4 that is among the data.
    for (const Extent& extent : extents_) {
      if (!random.once_in(12)) continue;
      const Read& read = extent.reads[random.below(extent.reads.size())];
      for (auto& queue : rig.queues) expected(*queue, read).flipped_at = (read.begin + read.end) / 2 / 4 * 4;
    }
    was_halted_ = std::any_of(rig.pairs.begin(), rig.pairs.end(), [](const gnv_queue& queue) { return queue.state != GNV_RUNNING; });
    memset(rig.memory.data(), 0xa5, rig.memory.size());
    const uint32_t layer = random.below(layout.layers);
    uint64_t offset = kGap;
    for (uint32_t at = 0; at < layout.positions; at++) {
      ids[at] = random.once_in(4) && at > 0 ? ids[random.below(at)] : random.below(layout.experts);
      if (random.once_in(12)) ids[at] = layout.experts + random.below(3);
      if (random.once_in(12)) ids[at] = GNV_FETCH_SKIP;
      const uint64_t bytes = ids[at] < layout.experts ? expert_at(layer, ids[at]).bytes : 160;
      // As large as the expert, or one byte smaller.
      destinations[at] = {offset, random.once_in(12) && bytes > 0 ? bytes - 1 : bytes};
      offset += (destinations[at].bytes + 15) / 16 * 16 + kGap;
      results[at] = {};
    }
    REQUIRE(offset <= rig.memory.size(), "the memory of the test is too small");
    const gnv_buffer& buffer = rig.buffer;
    fetch_ = {reinterpret_cast<const gnv_table*>(table_.data()), ids.data(), destinations.data(), results.data(), progress.data(),
              crcs.data(), buffer, layer, layout.positions, layout.max_read_bytes};
    return fetch_;
  }

  gnv_table& table() { return *reinterpret_cast<gnv_table*>(table_.data()); }
  gnv_expert& expert_entry(uint32_t index) { return in_table<gnv_expert>(table().experts_offset)[index]; }
  gnv_extent& extent_entry(uint32_t index) { return in_table<gnv_extent>(table().extents_offset)[index]; }

  // Compares the data at a position with the media. Called as soon as its result is VERIFIED.
  void compare(uint32_t position) const {
    const uint32_t place = results[position].position;
    REQUIRE(place < layout.positions && ids[place] == ids[position], "position %u has the data of another", position);
    const Expert& expert = expert_at(fetch_.layer, ids[position]);
    for (uint32_t index = 0; index < expert.extents.size(); index++) {
      const Extent& extent = extents_[expert.extents[index]];
      const uint8_t* data = gnv::fetched(fetch_, position, index);
      const std::vector<uint8_t> media = data_of(extent, false);
      REQUIRE(memcmp(data, media.data(), media.size()) == 0, "position %u extent %u: other data", position, index);
    }
  }

  // Lets the controllers complete delayed writes to memory, and compares the data that were verified before.
  void write_late() {
    rig.complete_all();
    for (uint32_t at = 0; at < layout.positions; at++)
      if (results[at].ending == GNV_FETCH_VERIFIED) compare(at);
  }

  // Checks all results and all memory after a fetch. @returns number of positions by ending.
  std::vector<uint32_t> judge(bool may_halt) const {
    std::vector<uint32_t> endings(6, 0);
    std::vector<bool> owned(rig.memory.size(), false);
    std::set<const Extent*> read;
    for (uint32_t at = 0; at < layout.positions; at++) {
      endings[results[at].ending < 6 ? results[at].ending : 0]++;
      uint32_t first = 0;
      while (ids[first] != ids[at]) first++;
      REQUIRE(results[at].position == first, "position %u refers to %u", at, results[at].position);
      judge_position(at, first, may_halt);
      if (results[at].ending == GNV_FETCH_REJECTED || results[at].ending == GNV_FETCH_SKIPPED) continue;
      for (const uint32_t index : expert_at(fetch_.layer, ids[at]).extents) read.insert(&extents_[index]);
      for (uint64_t i = 0; i < destinations[first].bytes; i++) owned[destinations[first].offset + i] = true;
    }
    for (const gnv_fetch_progress& each : progress)
      REQUIRE(each.ended == 0 && each.failure == 0, "progress is not cleared");
    for (const uint32_t crc : crcs) REQUIRE(crc == 0, "a CRC is not cleared");
    // Commands of an earlier fetch can be fetched, and write, at any time.
    if (was_halted_) return endings;
    for (uint64_t i = 0; i < rig.memory.size(); i++)
      REQUIRE(owned[i] || rig.memory[i] == 0xa5, "byte %llu was written, which is in no destination", ull(i));
    for (const Extent& extent : extents_)
      for (const Read& each : extent.reads) judge_fetches(extent, each, read.count(&extent) > 0, may_halt);
    return endings;
  }

  const FetchLayout layout;
  SharedRig rig;
  std::vector<uint32_t> ids;
  std::vector<gnv_destination> destinations;
  std::vector<gnv_fetch_result> results;
  std::vector<gnv_fetch_progress> progress;
  std::vector<uint32_t> crcs;

 private:
  std::vector<uint64_t> table_;
  gnv_fetch fetch_;
  // A queue was halted before the fetch.
  bool was_halted_ = false;

  const Expert& expert_at(uint32_t layer, uint32_t id) const { return experts_[layer * layout.experts + id]; }
  static Expected& expected(QueueRig& queue, const Read& read) { return queue.controller.expected[read.command]; }

  // Draws all extents, one after the other on the media, and divides them into reads. Returns the layout of the drives.
  SharedLayout lay_out(const FetchLayout& from, Random& random) {
    uint32_t block = 0;
    for (uint32_t number = 0; number < from.layers * from.experts; number++) {
      Expert expert;
      // One expert of each layer does not exist.
      const uint32_t count = number % from.experts == 1 ? 0 : 1 + random.below(kMaxExtents);
      for (uint32_t i = 0; i < count; i++) {
        const uint64_t bytes = 1 + random.below(from.max_bytes);
        const uint32_t skip = random.once_in(2) ? random.below(kBlock) : 0, drive = random.below(from.shared.drives);
        Extent extent = {drive, {SharedRig::kFirst + block, expert.bytes, bytes, skip, drive, 0, 0}, {}};
        const auto blocks = static_cast<uint32_t>((skip + bytes + kBlock - 1) / kBlock);
        uint32_t step = SharedRig::kMaxBlocks;
        if (from.max_read_bytes != 0 && from.max_read_bytes / kBlock < step) step = from.max_read_bytes / kBlock;
        if (step == 0) step = 1;
        for (uint32_t done = 0; done < blocks; done += step) {
          const uint32_t length = blocks - done < step ? blocks - done : step;
          const uint64_t left = skip + bytes - uint64_t{done} * kBlock;
          extent.reads.push_back({block + done, length, done == 0 ? skip : 0, left < length * kBlock ? left : length * kBlock});
        }
        expert.extents.push_back(static_cast<uint32_t>(extents_.size()));
        expert.bytes += uint64_t{blocks} * kBlock;
        block += blocks;
        extent.entry.crc32 = crc32_of(data_of(extent, false));
        extents_.push_back(extent);
      }
      experts_.push_back(expert);
    }
    SharedLayout all = from.shared;
    all.commands = block;
    return all;
  }

  // The data of an extent, with or without the flipped bits.
  std::vector<uint8_t> data_of(const Extent& extent, bool flipped) const {
    std::vector<uint8_t> bytes;
    for (const Read& read : extent.reads) {
      const uint64_t flip = flipped ? rig.queues[0]->controller.expected[read.command].flipped_at : UINT64_MAX;
      for (uint64_t i = read.begin; i < read.end; i++) {
        const uint32_t word = pattern(SharedRig::kFirst + read.command, i / 4 * 4) ^ (i / 4 * 4 == flip ? kFlippedBit : 0);
        bytes.push_back(static_cast<uint8_t>(word >> i % 4 * 8));
      }
    }
    return bytes;
  }

  template <class T>
  T* in_table(uint64_t offset) {
    return reinterpret_cast<T*>(reinterpret_cast<uint8_t*>(table_.data()) + offset);
  }

  void write_table() {
    gnv_table header = {GNV_FETCH_VERSION, layout.layers, static_cast<uint32_t>(experts_.size()),
                        static_cast<uint32_t>(extents_.size()), kMaxExtents, SharedRig::kBlockShift, 0, sizeof(gnv_table), 0, 0, 0};
    header.experts_offset = header.layers_offset + layout.layers * sizeof(gnv_layer);
    header.extents_offset = header.experts_offset + experts_.size() * sizeof(gnv_expert);
    header.bytes = header.extents_offset + extents_.size() * sizeof(gnv_extent);
    for (const Expert& expert : experts_) header.max_bytes = std::max(header.max_bytes, expert.bytes);
    table_.resize(header.bytes / 8);
    table() = header;
    for (uint32_t layer = 0; layer < layout.layers; layer++)
      in_table<gnv_layer>(header.layers_offset)[layer] = {layer * layout.experts, layout.experts};
    uint32_t first = 0;
    for (uint32_t number = 0; number < experts_.size(); number++) {
      const auto count = static_cast<uint32_t>(experts_[number].extents.size());
      expert_entry(number) = {experts_[number].bytes, first, count};
      first += count;
    }
    for (uint32_t number = 0; number < extents_.size(); number++) extent_entry(number) = extents_[number].entry;
  }

  void judge_position(uint32_t at, uint32_t first, bool may_halt) const {
    const gnv_fetch_result& result = results[at];
    const auto require = [&](uint32_t ending, uint32_t reason) {
      REQUIRE(result.ending == ending && result.reason == reason, "position %u: ending %u reason %u, expected %u and %u", at,
              result.ending, result.reason, ending, reason);
    };
    if (ids[at] == GNV_FETCH_SKIP) return require(GNV_FETCH_SKIPPED, 0);
    if (ids[at] >= layout.experts) return require(GNV_FETCH_REJECTED, GNV_FETCH_BAD_EXPERT);
    const Expert& expert = expert_at(fetch_.layer, ids[at]);
    if (expert.extents.empty()) return require(GNV_FETCH_REJECTED, GNV_FETCH_BAD_EXPERT);
    if (destinations[first].bytes < expert.bytes) return require(GNV_FETCH_REJECTED, GNV_FETCH_BAD_DESTINATION);
    bool has_failed = false;
    for (uint32_t index = 0; index < expert.extents.size(); index++)
      for (const Read& read : extents_[expert.extents[index]].reads) {
        const Expected* done = completed(read);
        if (done != nullptr && done->status == 0) continue;
        has_failed = true;
        if (result.extent != index || result.ending != GNV_FETCH_READ_FAILED) continue;
        const gnv::Outcome outcome(result.read);
        if (outcome.ending() == GNV_STATUS) REQUIRE(done != nullptr && outcome.status() == done->status, "position %u: another status", at);
      }
    if (result.ending == GNV_FETCH_READ_FAILED) {
      const gnv::Outcome outcome(result.read);
      REQUIRE(!outcome.ok() && outcome.ending() != GNV_PENDING, "position %u: a read failed without a failure", at);
      REQUIRE(outcome.ending() == GNV_STATUS || may_halt, "position %u: a read ended with %u", at, outcome.ending());
      // A completion can come after the time limit.
      REQUIRE(has_failed || may_halt, "position %u: no read has failed", at);
      return;
    }
    REQUIRE(!has_failed, "position %u: ending %u, and a read has failed", at, result.ending);
    REQUIRE(!was_halted_, "position %u: ending %u, and a queue is halted", at, result.ending);
    for (uint32_t index = 0; index < expert.extents.size(); index++) {
      const Extent& extent = extents_[expert.extents[index]];
      const uint32_t crc = crc32_of(data_of(extent, true));
      if (crc == extent.entry.crc32) continue;
      require(GNV_FETCH_CORRUPT, 0);
      REQUIRE(result.extent == index && result.expected == extent.entry.crc32 && result.actual == crc,
              "position %u: extent %u has %08x, expected extent %u and %08x", at, result.extent, result.actual, index, crc);
      return;
    }
    require(GNV_FETCH_VERIFIED, 0);
    compare(at);
  }

  const Expected* completed(const Read& read) const {
    for (const auto& queue : rig.queues)
      if (expected(*queue, read).completed) return &expected(*queue, read);
    return nullptr;
  }

  // Each read of a requested expert reaches its drive once, and no other.
  void judge_fetches(const Extent& extent, const Read& read, bool is_requested, bool may_halt) const {
    const uint32_t in_drive = layout.shared.queues / layout.shared.drives;
    for (uint32_t index = 0, here = 0; index < rig.queues.size(); index++) {
      const uint32_t fetches = expected(*rig.queues[index], read).fetches;
      REQUIRE(fetches == 0 || index / in_drive == extent.drive, "a read on queue %u, which is of another drive", index);
      here += fetches;
      if (index + 1 < rig.queues.size()) continue;
      REQUIRE(here <= 1 && (is_requested || here == 0), "an extent was read %u times", here);
      REQUIRE(may_halt || here == (is_requested ? 1 : 0), "a read of a requested expert is missing");
    }
  }
};

}  // namespace model
