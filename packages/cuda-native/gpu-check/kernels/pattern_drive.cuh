// The controller's side of a queue pair, to test and measure without an SSD: a drive on which every byte is that of a pattern.
// It fetches entries, checks every field, moves data as their PRPs say, and posts completions. A warp of a GPU serves a queue in
// the memory of that GPU; a CPU thread serves queues in host memory.
//
// The plan of faults decides by the position of a command in its queue, so that a run can be repeated. Stations hold commands
// between their fetch and their completion: a warp has one per lane, a CPU thread eight.
#pragma once

#include "pattern.cuh"

namespace gpunvme {

// Faults. "One in" counts commands of a queue; 0 means never.
struct DrivePlan {
  // Never completed.
  uint32_t lose_one_in;
  // Completed `delay_rounds` rounds late. A round is a turn in which the drive has commands.
  uint32_t delay_one_in;
  uint32_t delay_rounds;
  // Completed twice.
  uint32_t duplicate_one_in;
  // 1: completions of a round are posted in the reverse order of their commands.
  uint32_t reverses;
  // 1: data are moved, and checked on a write.
  uint32_t moves_data;
};

// Memory that entries may refer to.
struct DriveMemory {
  uint64_t iova;
  uint64_t bytes;
  // The server's address of the memory.
  uint64_t data;
};

struct DriveNamespace {
  uint64_t blocks;
  uint64_t seed;
  uint32_t nsid;
  uint32_t block_shift;
  uint32_t max_blocks;
  uint32_t page_shift;
  DriveMemory data;
  DriveMemory prp_lists;
};

enum class Mistake : uint32_t {
  NONE,
  // A tail that is not a valid index.
  TAIL,
  // Opcode, fused operation, PSDT, or a reserved field.
  FIELD,
  NSID,
  RANGE,
  PRP,
  // An identifier or a slot of a command in flight.
  CID,
  // Write data that differ from the pattern.
  DATA,
};

// Written and read by the host. Addresses are valid for the server: a warp of the GPU, or a CPU thread.
struct DriveQueue {
  uint64_t sq;
  uint64_t cq;
  uint64_t tail_doorbell;
  uint64_t head_doorbell;
  // `slots` words, initially 0: 1 for the identifiers of commands in flight, by slot.
  uint64_t in_flight;
  // A power of two.
  uint32_t entries;
  uint32_t qid;
  // A power of two: identifiers of commands in flight differ in these bits.
  uint32_t slots;
  uint32_t reserved;
  // What happened, when the queue is no longer served.
  uint64_t commands;
  uint64_t rings;
  uint64_t completions;
  uint64_t lost;
  uint64_t mistakes;
  uint64_t first_mistake;
};
static_assert(sizeof(DriveQueue) == 8 * 13, "written by the host");

template <class Team, class Port>
class PatternDrive {
 public:
  GPUNVME_DEVICE PatternDrive(DriveQueue& queue, const DriveNamespace& space, const DrivePlan& plan)
      : queue_(queue), space_(space), plan_(plan) {
    for (Station& station : stations_) station = {0, 0, 0};
  }

  // Fetches and completes a command per station, at most. Returns whether it posted a completion. All lanes of a warp call it
  // together.
  GPUNVME_DEVICE bool turn() {
    const uint32_t tail = first(Port::load_acquire32_gpu(pointer<uint32_t>(queue_.tail_doorbell)));
    const uint32_t head = first(Port::load_relaxed32(pointer<uint32_t>(queue_.head_doorbell)));
    // All lanes see the entries that the first lane has acquired.
    Team::sync_warp(Team::kAllLanes);
    if (tail >= queue_.entries) return object(Mistake::TAIL, Team::lane() == 0), false;
    if (tail != rung_) rings_++;
    rung_ = tail;
    const uint32_t announced = (tail - fetched_) & (queue_.entries - 1);
    if (announced == 0 && busy_ == 0) return false;
    each([](Station& station, uint32_t) {
      if (station.delay > 0) station.delay--;
    });
    fetch(announced);
    return post(head);
  }

  // Stores the counts. Call it once, at the end.
  GPUNVME_DEVICE void report() {
    if (Team::lane() != 0) return;
    queue_.commands = commands_;
    queue_.completions = completions_;
    queue_.rings = rings_;
  }

 private:
  // A command between its fetch and its completion.
  struct Station {
    uint32_t cid;
    // Completions to post. 0: the station is free.
    uint32_t completions;
    // Rounds until they are due.
    uint32_t delay;
  };
  static constexpr uint32_t kStations = Team::kLanes > 8 ? Team::kLanes : 8, kPerLane = kStations / Team::kLanes;

  // Fields of an entry (Base 2.1 §4.1.1, NVM 1.2 §3.2.4).
  struct Command {
    uint32_t opcode, cid, blocks;
    uint64_t slba, prp1, prp2;
  };

  template <class T>
  static GPUNVME_DEVICE T* pointer(uint64_t address) {
    return reinterpret_cast<T*>(static_cast<uintptr_t>(address));
  }
  static GPUNVME_DEVICE uint32_t first(uint32_t value) { return Team::shuffle(Team::kAllLanes, value, 0); }
  static GPUNVME_DEVICE uint32_t below(uint32_t bits, uint32_t number) { return count_bits(bits & ((1u << number) - 1)); }
  static GPUNVME_DEVICE bool strikes(uint32_t one_in, uint64_t command) {
    return one_in != 0 && command % one_in == one_in - 1;
  }

  // Calls `act` with each station of this lane, and its number.
  template <class Act>
  GPUNVME_DEVICE void each(const Act& act) {
    for (uint32_t index = 0; index < kPerLane; index++) act(stations_[index], Team::lane() + index * Team::kLanes);
  }
  // Returns the numbers of all stations for which `test` holds, as bits.
  template <class Test>
  GPUNVME_DEVICE uint32_t having(const Test& test) const {
    uint32_t bits = 0;
    for (uint32_t index = 0; index < kPerLane; index++)
      bits |= Team::ballot(Team::kAllLanes, test(stations_[index])) << index * Team::kLanes % 32;
    return bits;
  }

  GPUNVME_DEVICE void object(Mistake mistake, bool is_one) {
    if (!is_one) return;
    Team::atomic_add(&queue_.mistakes, uint64_t{1});
    Port::cas64_gpu(&queue_.first_mistake, 0, static_cast<uint64_t>(mistake));
  }

  GPUNVME_DEVICE void fetch(uint32_t announced) {
    const uint32_t free = having([](const Station& station) { return station.completions == 0; });
    const uint32_t room = count_bits(free), count = announced < room ? announced : room;
    each([&](Station& station, uint32_t number) {
      const uint32_t rank = below(free, number);
      const bool takes = (free >> number & 1) != 0 && rank < count;
      Command command = {};
      Mistake mistake = Mistake::NONE;
      if (takes) {
        mistake = read_entry(command, (fetched_ + rank) & (queue_.entries - 1));
        const uint64_t position = commands_ + rank;
        if (strikes(plan_.lose_one_in, position)) Team::atomic_add(&queue_.lost, uint64_t{1});
        else station = {command.cid, strikes(plan_.duplicate_one_in, position) ? 2u : 1u,
                        strikes(plan_.delay_one_in, position) ? plan_.delay_rounds : 0};
      }
      if (plan_.moves_data != 0) move_all(command, takes, mistake);
      object(mistake, mistake != Mistake::NONE);
    });
    fetched_ += count;
    commands_ += count;
  }

  GPUNVME_DEVICE Mistake read_entry(Command& command, uint32_t index) {
    const uint32_t* dword = pointer<const uint32_t>(queue_.sq) + 16 * index;
    command = {dword[0] & 0xff, dword[0] >> 16, 0, 0, wide(dword + 6), wide(dword + 8)};
    const bool is_flush = command.opcode == GPUNVME_NVM_OPCODE_FLUSH;
    const bool is_known = is_flush || command.opcode == GPUNVME_NVM_OPCODE_READ || command.opcode == GPUNVME_NVM_OPCODE_WRITE;
    uint32_t reserved = (dword[0] & 0xff00) | dword[2] | dword[3] | dword[4] | dword[5] | dword[13] | dword[14] | dword[15];
    if (is_flush) reserved |= dword[10] | dword[11] | dword[12];
    if (!is_known || (reserved | dword[12] >> 16) != 0) return Mistake::FIELD;
    if (dword[1] != space_.nsid) return Mistake::NSID;
    const uint32_t slot = command.cid & (queue_.slots - 1);
    if (Port::exchange32_gpu(pointer<uint32_t>(queue_.in_flight) + slot, 1) != 0) return Mistake::CID;
    if (is_flush) return Mistake::NONE;
    command.slba = wide(dword + 10);
    command.blocks = (dword[12] & 0xffff) + 1;
    if (command.blocks > space_.max_blocks || command.blocks > space_.blocks || command.slba > space_.blocks - command.blocks)
      return Mistake::RANGE;
    return walk(command, [](uint64_t*, uint64_t, uint64_t) {}) ? Mistake::NONE : Mistake::PRP;
  }
  static GPUNVME_DEVICE uint64_t wide(const uint32_t* dword) { return static_cast<uint64_t>(dword[1]) << 32 | dword[0]; }

  // Returns the address of `bytes` bytes at an IOVA, or null if they are not in the memory.
  static GPUNVME_DEVICE uint64_t* find(const DriveMemory& memory, uint64_t iova, uint64_t bytes) {
    const uint64_t offset = iova - memory.iova;
    return offset < memory.bytes && bytes <= memory.bytes - offset ? pointer<uint64_t>(memory.data + offset) : nullptr;
  }

  // Calls `act(data, bytes, offset)` for each part of the data that is contiguous (Base 2.1 §4.3.1). Returns whether all PRP entries
  // are correct. A first list page with an offset is not, since no host of this drive lays one.
  template <class Act>
  GPUNVME_DEVICE bool walk(const Command& command, const Act& act) const {
    const uint64_t page = 1ULL << space_.page_shift, bytes = static_cast<uint64_t>(command.blocks) << space_.block_shift;
    const uint64_t in_first = page - (command.prp1 & (page - 1));
    uint64_t at = in_first < bytes ? in_first : bytes;
    uint64_t* data = find(space_.data, command.prp1, at);
    if (command.prp1 % 4 != 0 || data == nullptr) return false;
    act(data, at, uint64_t{0});
    if (at == bytes) return command.prp2 == 0;
    const bool is_list = bytes - at > page;
    const uint64_t* list = &command.prp2;
    if (is_list && (command.prp2 % page != 0 || (list = find(space_.prp_lists, command.prp2, page)) == nullptr)) return false;
    for (uint64_t index = 0; at < bytes; index++) {
      const uint64_t left = bytes - at, length = left < page ? left : page;
      if (is_list && index == page / 8 - 1 && left > page) {
        if (list[index] % page != 0 || (list = find(space_.prp_lists, list[index], page)) == nullptr) return false;
        index = 0;
      }
      data = find(space_.data, list[index], length);
      if (list[index] % page != 0 || data == nullptr) return false;
      act(data, length, at);
      at += length;
    }
    return true;
  }

  // Moves the data of the commands of all lanes, one after another.
  GPUNVME_DEVICE void move_all(const Command& command, bool takes, Mistake& mistake) {
    const bool moves = takes && mistake == Mistake::NONE && command.opcode != GPUNVME_NVM_OPCODE_FLUSH;
    for (uint32_t left = Team::ballot(Team::kAllLanes, moves); left != 0; left &= left - 1) {
      const uint32_t lane = lowest_bit(left);
      const auto of = [&](auto value) { return Team::shuffle(Team::kAllLanes, value, lane); };
      const Command now = {of(command.opcode), 0, of(command.blocks), of(command.slba), of(command.prp1), of(command.prp2)};
      uint32_t wrong = 0;
      walk(now, [&](uint64_t* data, uint64_t bytes, uint64_t offset) {
        const uint64_t from = (now.slba << space_.block_shift) + offset;
        const bool reads = now.opcode == GPUNVME_NVM_OPCODE_READ;
        // A PRP1 that is an odd multiple of 4 splits 8-byte words, in memory or between parts.
        if ((reinterpret_cast<uintptr_t>(data) | bytes | from) % 8 == 0) wrong |= move(data, bytes, from, reads);
        else wrong |= move(reinterpret_cast<uint32_t*>(data), bytes, from, reads);
      });
      if (Team::ballot(Team::kAllLanes, wrong != 0) != 0 && lane == Team::lane()) mistake = Mistake::DATA;
    }
    // Data of all lanes come before the completion of any.
    Team::sync_warp(Team::kAllLanes);
  }

  // Stores the bytes of the pattern from `from` on, or compares them. Returns whether this lane found others.
  template <class Word>
  GPUNVME_DEVICE bool move(Word* data, uint64_t bytes, uint64_t from, bool reads) const {
    bool wrong = false;
    for (uint64_t i = Team::lane() * sizeof(Word); i < bytes; i += Team::kLanes * sizeof(Word)) {
      const Word word = static_cast<Word>(pattern_at(space_.seed, from + i));
      if (reads) data[i / sizeof(Word)] = word;
      else wrong |= data[i / sizeof(Word)] != word;
    }
    return wrong;
  }

  // Posts completions that are due, as far as the queue has room. Returns whether it posted any.
  GPUNVME_DEVICE bool post(uint32_t head) {
    const uint32_t due = having([](const Station& station) { return station.completions != 0 && station.delay == 0; });
    const uint32_t twice = having([](const Station& station) { return station.completions == 2 && station.delay == 0; });
    // One entry stays free: a full queue is one whose tail is before its head (Base 2.1 §3.3.1.5).
    const uint32_t room = queue_.entries - 1 - ((posted_ - head) & (queue_.entries - 1));
    each([&](Station& station, uint32_t number) {
      if ((due >> number & 1) == 0) return;
      const uint32_t before = plan_.reverses != 0 ? ~((2u << number) - 1) : (1u << number) - 1;
      const uint32_t rank = count_bits(due & before) + count_bits(twice & before);
      if (rank + station.completions > room) return;
      for (uint32_t i = 0; i < station.completions; i++) post_entry(posted_ + rank + i, station.cid, i == 0);
      station.completions = 0;
    });
    const uint32_t left = having([](const Station& station) { return station.completions != 0 && station.delay == 0; });
    const uint32_t total = count_bits(due & ~left) + count_bits(twice & ~left);
    posted_ += total;
    completions_ += total;
    busy_ = having([](const Station& station) { return station.completions != 0; });
    return total != 0;
  }

  GPUNVME_DEVICE void post_entry(uint32_t position, uint32_t cid, bool is_first) {
    uint64_t* entry = pointer<uint64_t>(queue_.cq) + 2 * (position & (queue_.entries - 1));
    const uint64_t phase = (position & queue_.entries) == 0 ? 1 : 0;
    if (is_first) pointer<uint32_t>(queue_.in_flight)[cid & (queue_.slots - 1)] = 0;
    entry[0] = 0;
    const uint64_t sq_head = fetched_ & (queue_.entries - 1);
    Port::store_release64(entry + 1, phase << 48 | static_cast<uint64_t>(cid) << 32 | queue_.qid << 16 | sq_head);
  }

  DriveQueue& queue_;
  const DriveNamespace space_;
  const DrivePlan plan_;
  Station stations_[kPerLane];
  uint32_t fetched_ = 0, posted_ = 0, rung_ = 0, busy_ = 0;
  uint64_t commands_ = 0, completions_ = 0, rings_ = 0;
};

}  // namespace gpunvme
