// `pattern_drive_test SERVER CASE`: a PatternDrive, served by a CPU thread (solo) or a warp (warp), finds the mistakes of a host
// and moves data.
#include "gpu-check/pattern_drive_rig.h"

#include <functional>
#include <string>

namespace model {
namespace {

// Seven transfers on distinct pages: they can be in flight at once. PRP1 may have any offset that is a multiple of 4.
const Transfer kOne = {40, 2, 3, 16, {}, {}}, kOneByDword = {50, 2, 4, 20, {}, {}}, kTwo = {61, 4, 6, 36, {5}, {}},
               kTwoWhole = {70, 8, 8, 0, {7}, {}}, kList = {81, 12, 10, 4, {12, 9, 11}, {6}},
               kWholeList = {100, 36, 13, 0, {21, 20, 19, 18, 17, 16, 15, 14}, {2}},
               kChained = {200, 64, 30, 16, {31, 33, 32, 34, 36, 35, 37, 39, 38, 40, 42, 41, 43, 45, 44, 46}, {3, 1, 5}};
const Transfer kTransfers[] = {kOne, kOneByDword, kTwo, kTwoWhole, kList, kWholeList, kChained};

template <class Server>
struct Cases {
  using Rig = DriveRig<Server>;

  static void expect_mistake(const char* what, Mistake mistake, Mistake expected) {
    REQUIRE(mistake == expected, "%s: mistake %u, not %u", what, static_cast<uint32_t>(mistake), static_cast<uint32_t>(expected));
  }

  static void tail() {
    Rig rig;
    uint64_t mistakes = 0;
    for (const uint32_t wrong : {8u, 9u, 0xffffffffu}) {
      rig.tail_doorbell = wrong;
      REQUIRE(!rig.turn() && rig.poll().empty(), "a tail of %u is served", wrong);
      REQUIRE(rig.queue.mistakes == ++mistakes, "a tail of %u is no mistake", wrong);
      expect_mistake("a tail that is not an index", static_cast<Mistake>(rig.queue.first_mistake), Mistake::TAIL);
    }
    rig.tail_doorbell = 0;
    for (uint32_t cid = 0; cid < 7; cid++) rig.stage(Rig::entry_of(kFlush, cid));
    // The last index, then the first.
    rig.ring();
    REQUIRE(rig.turn() && rig.take().size() == 7 && rig.queue.mistakes == mistakes, "a tail of 7 is not served");
    expect_mistake("a tail of 0", rig.judge(Rig::entry_of(kFlush, 7)), Mistake::NONE);
  }

  // Each bit of each field that Read and Flush do not use, and each other opcode.
  static void field() {
    Rig rig;
    const Entry read = rig.entry_of(kRead, 1, kOne), flush = Rig::entry_of(kFlush, 1);
    const auto expect_bits = [&](const Entry& entry, uint32_t dword, uint32_t bits) {
      for (; bits != 0; bits &= bits - 1) {
        Entry spoilt = entry;
        spoilt.dword[dword] ^= bits & (0 - bits);
        const std::string what = "CDW" + std::to_string(dword) + ": " + std::to_string(spoilt.dword[dword]);
        expect_mistake(what.c_str(), rig.judge(spoilt), Mistake::FIELD);
      }
    };
    for (const Entry& entry : {read, flush}) {
      expect_mistake("no defect", rig.judge(entry), Mistake::NONE);
      expect_bits(entry, 0, 0xff00);
      for (const uint32_t dword : {2, 3, 4, 5, 13, 14, 15}) expect_bits(entry, dword, 0xffffffff);
      expect_bits(entry, 12, 0xffff0000);
    }
    for (const uint32_t dword : {10, 11, 12}) expect_bits(flush, dword, 0xffffffff);
    for (uint32_t opcode = 3; opcode < 256; opcode++) {
      Entry spoilt = read;
      spoilt.dword[0] ^= kRead ^ opcode;
      expect_mistake("opcode", rig.judge(spoilt), Mistake::FIELD);
    }
  }

  static void nsid() {
    Rig rig;
    for (const uint32_t opcode : {kRead, kFlush}) {
      Entry entry = rig.entry_of(opcode, 1);
      if (opcode == kRead) entry = rig.entry_of(kRead, 1, kOne);
      expect_mistake("no defect", rig.judge(entry), Mistake::NONE);
      for (const uint32_t wrong : {0u, 6u, 8u, kNsid | 1u << 31, 0xffffffffu}) {
        entry.dword[1] = wrong;
        expect_mistake("NSID", rig.judge(entry), Mistake::NSID);
      }
    }
  }

  static void range() {
    Rig rig;
    Entry entry = rig.entry_of(kRead, 1, kTwo);
    const auto expect = [&](uint64_t slba, Mistake expected) {
      entry.slba(slba);
      expect_mistake("SLBA", rig.judge(entry), expected);
    };
    for (const uint64_t slba : {uint64_t{0}, kBlocks - 4}) expect(slba, Mistake::NONE);
    for (const uint64_t slba : {kBlocks - 3, kBlocks, kBlocks + 1, kBlocks << 32, kBlocks << 48}) expect(slba, Mistake::RANGE);
    for (const uint64_t before : {uint64_t{1}, uint64_t{4}, kBlocks}) expect(0 - before, Mistake::RANGE);
    DriveNamespace space = kSpace;
    const auto in_space = [&](const Transfer& transfer) {
      Rig of(no_faults(), 8, space);
      return of.judge(of.entry_of(kRead, 1, transfer));
    };
    space.max_blocks = 12;
    expect_mistake("blocks of one command", in_space(kList), Mistake::NONE);
    space.max_blocks = 11;
    expect_mistake("blocks of one command", in_space(kList), Mistake::RANGE);
    space = kSpace;
    space.blocks = 3;
    expect_mistake("a namespace smaller than the command", in_space({0, 4, 6, 36, {5}, {}}), Mistake::RANGE);
    expect_mistake("a whole namespace", in_space({0, 3, 6, 0, {}, {}}), Mistake::NONE);
  }

  static void prp() {
    constexpr uint64_t kDataEnd = kDataIova + kPages * kPage, kListEnd = kListIova + kListPages * kPage;
    struct Row {
      const char* what;
      const Transfer& transfer;
      std::function<void(Entry& entry, uint64_t* lists)> spoil;
    };
    const auto prp1 = [](uint64_t iova) { return [=](Entry& entry, uint64_t*) { entry.prp1(iova); }; };
    const auto prp2 = [](uint64_t iova) { return [=](Entry& entry, uint64_t*) { entry.prp2(iova); }; };
    const auto item = [](uint32_t page, uint32_t index, uint64_t iova) {
      return [=](Entry&, uint64_t* lists) { lists[page * 8 + index] = iova; };
    };
    const Row rows[] = {
        {"PRP1 that is not a multiple of 4", kOne, prp1(data_page(3) + 17)},
        {"PRP1 that is not a multiple of 4", kOne, prp1(data_page(3) + 18)},
        {"PRP1 before the data", kOne, prp1(kDataIova - kPage)},
        {"PRP1 at the end of the data", kOne, prp1(kDataEnd)},
        {"PRP1 far from the data", kOne, prp1(data_page(3) ^ 1ULL << 63)},
        {"PRP1 of 0", kOne, prp1(0)},
        {"PRP2 of a single page", kOne, prp2(data_page(7))},
        {"PRP2 of a single page", kOne, prp2(1)},
        {"PRP2 with an offset", kTwo, prp2(data_page(5) + 4)},
        {"PRP2 outside", kTwo, prp2(kDataEnd)},
        {"PRP2 of 0", kTwo, prp2(0)},
        {"PRP2 in the memory of lists", kTwoWhole, prp2(list_page(1))},
        // The specification allows it, but no host of this drive lays one.
        {"a list with an offset", kList, [](Entry& entry, uint64_t* lists) {
           entry.prp2(list_page(6) + 8);
           for (uint32_t at = 3; at > 0; at--) lists[6 * 8 + at] = lists[6 * 8 + at - 1];
         }},
        {"a list in the data", kList, prp2(data_page(1))},
        {"a list before the others", kList, prp2(kListIova - kPage)},
        {"a list at the end of the others", kList, prp2(kListEnd)},
        {"an entry with an offset", kList, item(6, 1, data_page(9) + 4)},
        {"the last entry with an offset", kList, item(6, 2, data_page(11) + 32)},
        {"an entry outside", kList, item(6, 0, kDataEnd)},
        {"the last entry outside", kList, item(6, 2, kDataIova - kPage)},
        {"the eighth entry of a whole list outside", kWholeList, item(2, 7, list_page(1))},
        {"an entry of data in the place of the pointer", kChained, item(3, 7, data_page(39))},
        {"a pointer outside", kChained, item(3, 7, kListEnd)},
        {"a pointer with an offset", kChained, item(3, 7, list_page(1) + 8)},
        {"a second pointer with an offset", kChained, item(1, 7, list_page(5) + 4)},
        {"a second pointer outside", kChained, item(1, 7, 0)},
        {"an entry outside on the second page", kChained, item(1, 0, kDataEnd)},
        {"an entry with an offset on the third page", kChained, item(5, 1, data_page(46) + 4)},
    };
    for (const auto& [what, transfer, spoil] : rows) {
      Rig rig;
      const Entry entry = rig.entry_of(kRead, 1, transfer);
      expect_mistake("no defect", rig.judge(entry), Mistake::NONE);
      const std::vector<uint64_t> before = rig.data;
      Entry spoilt = entry;
      spoil(spoilt, rig.lists.data());
      // Other blocks, to see whether any of their data is stored.
      spoilt.slba(transfer.slba + 300);
      expect_mistake(what, rig.judge(spoilt), Mistake::PRP);
      REQUIRE(rig.data == before, "%s: data were moved", what);
    }
    DriveNamespace space = kSpace;
    space.data.bytes -= 4;
    Rig short_data(no_faults(), 8, space);
    expect_mistake("up to the end", short_data.judge(short_data.entry_of(kRead, 1, {0, 1, 63, 44, {}, {}})), Mistake::NONE);
    expect_mistake("beyond the end", short_data.judge(short_data.entry_of(kRead, 1, {0, 1, 63, 48, {}, {}})), Mistake::PRP);
    space.prp_lists.bytes = 7 * kPage - 8;
    Rig short_list(no_faults(), 8, space);
    expect_mistake("a list beyond the end", short_list.judge(short_list.entry_of(kRead, 1, kList)), Mistake::PRP);
  }

  static void cid() {
    DrivePlan plan = no_faults();
    plan.lose_one_in = 3;
    Rig rig(plan);
    const auto flush = [](uint32_t cid) { return Rig::entry_of(kFlush, cid); };
    for (int i = 0; i < 2; i++) expect_mistake("a completed command", rig.judge(flush(1)), Mistake::NONE);
    rig.submit(flush(2));
    rig.turn();
    REQUIRE(rig.queue.lost == 1, "the third command is not lost");
    expect_mistake("the identifier of a command in flight", rig.judge(flush(2)), Mistake::CID);
    rig.submit(flush(5));
    rig.submit(flush(5 + kSlots));
    rig.queue.mistakes = 0;
    rig.turn();
    REQUIRE(rig.queue.mistakes == 1, "two commands with a slot in one round: %llu mistakes", ull(rig.queue.mistakes));
  }

  // Fills the data of transfers with the pattern, in `to`.
  static void fill(uint8_t* to, const Transfer& transfer) {
    transfer.each_byte([&](uint32_t at, uint64_t from) { to[at] = pattern_byte(from); });
  }

  static void reads() {
    Rig rig, model;
    for (uint32_t cid = 0; cid < std::size(kTransfers); cid++) rig.submit(rig.entry_of(kRead, cid, kTransfers[cid]));
    REQUIRE(rig.turn(), "nothing to do");
    for (const Transfer& transfer : kTransfers) fill(model.bytes(), transfer);
    for (uint32_t at = 0; at < kPages * kPage; at++)
      REQUIRE(rig.bytes()[at] == model.bytes()[at], "byte %u of page %u", at % kPage, at / kPage);
    REQUIRE(rig.queue.mistakes == 0, "%llu mistakes", ull(rig.queue.mistakes));
    expect_cids("seven reads", rig.take(), {0, 1, 2, 3, 4, 5, 6});
  }

  static void writes() {
    for (const Transfer& transfer : kTransfers) {
      Rig rig;
      const Entry write = rig.entry_of(kWrite, 1, transfer);
      fill(rig.bytes(), transfer);
      const std::vector<uint64_t> before = rig.data;
      expect_mistake("the pattern", rig.judge(write), Mistake::NONE);
      std::vector<uint32_t> places;
      transfer.each_byte([&](uint32_t at, uint64_t) { places.push_back(at); });
      for (const uint32_t at : places) {
        // The first and the last bytes of each page.
        if (at % kPage > 4 && at % kPage < kPage - 4 && at != places.front() && at != places.back()) continue;
        rig.bytes()[at] ^= 0x10;
        expect_mistake("a wrong byte", rig.judge(write), Mistake::DATA);
        rig.bytes()[at] ^= 0x10;
      }
      REQUIRE(rig.data == before, "a write has changed the data");
    }
    // The mistake is found among other commands of a round.
    Rig rig;
    for (uint32_t cid = 0; cid < std::size(kTransfers); cid++) {
      fill(rig.bytes(), kTransfers[cid]);
      rig.submit(rig.entry_of(kWrite, cid, kTransfers[cid]));
    }
    rig.data[8 * 8] ^= 1;
    rig.turn();
    REQUIRE(rig.queue.mistakes == 1, "%llu mistakes", ull(rig.queue.mistakes));
    expect_mistake("one of seven", static_cast<Mistake>(rig.queue.first_mistake), Mistake::DATA);
  }

  static void flush() {
    Rig rig;
    expect_mistake("Flush", rig.judge(Rig::entry_of(kFlush, 9)), Mistake::NONE);
    for (const uint64_t word : rig.data) REQUIRE(word == kUntouched, "Flush has stored data");
  }

  static void unmoved() {
    DrivePlan plan = no_faults();
    plan.moves_data = 0;
    Rig rig(plan);
    for (const uint32_t opcode : {kRead, kWrite})
      expect_mistake("no data", rig.judge(rig.entry_of(opcode, 1, kList)), Mistake::NONE);
    for (const uint64_t word : rig.data) REQUIRE(word == kUntouched, "data were moved");
    Entry spoilt = rig.entry_of(kRead, 1, kList);
    spoilt.prp2(0);
    expect_mistake("a wrong PRP", rig.judge(spoilt), Mistake::PRP);
  }

  static std::vector<Named> all() {
    return {{"tail", tail}, {"field", field}, {"nsid", nsid}, {"range", range}, {"prp", prp}, {"cid", cid},
            {"reads", reads}, {"writes", writes}, {"flush", flush}, {"unmoved", unmoved}};
  }
};

}  // namespace
}  // namespace model

int main(int count, char** args) { model::run_case<model::Cases>(count, args); }
