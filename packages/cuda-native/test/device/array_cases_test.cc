// `array_cases_test CASE`: one thread on a gnv::Array. Checks the outcomes of misuse, each ending, and the order of eviction.
#include "array_rig.h"
#include "cpu_port.cuh"
#include "solo_team.cuh"

namespace model {
namespace {

ArrayRig* rig;
// Whether the controller makes progress between polls.
bool is_answering = true;
Random numbers(1);
uint64_t now_ns = 1'000'000;
// Action of another thread between two polls of this one; runs once.
void (*other)() = nullptr;

struct CasePort : CpuPort {
  static uint64_t now_ns() { return model::now_ns; }
  static void relax(uint32_t) {
    model::now_ns += 1000;
    if (is_answering) rig->turn(numbers, {});
    void (*const act)() = other;
    other = nullptr;
    if (act != nullptr) act();
  }
};
template <class T>
using ArrayOf = gnv::BasicArray<T, SoloTeam, CasePort>;
using Array = ArrayOf<uint64_t>;

constexpr uint64_t kTimeout = 100'000;

// An array with a single set.
struct Case {
  explicit Case(uint32_t ways, uint32_t queues = 1) : rig({.ways = ways, .queues = queues, .timeout_ns = kTimeout}), array{rig.array} {
    model::rig = &rig;
  }
  gnv::Outcome read(uint64_t page) const {
    uint64_t value = 0;
    const uint64_t index = page * ArrayRig::kInPage + page % ArrayRig::kInPage;
    const gnv::Outcome outcome = array.read(index, value);
    REQUIRE(!outcome.ok() || value == ArrayRig::content(index), "page %llu: %llx", ull(page), ull(value));
    return outcome;
  }
  void expect(uint64_t page, gnv_ending ending) const {
    const gnv_ending ended = read(page).ending();
    REQUIRE(ended == ending, "page %llu ended with %u, not %u", ull(page), ended, ending);
  }
  void expect_misses(uint64_t misses) const { REQUIRE(rig.sets[0].misses == misses, "%llu misses, not %llu", ull(rig.sets[0].misses), ull(misses)); }
  ArrayRig rig;
  const Array array;
};

void index() {
  const Case with(2);
  REQUIRE(with.array.size() == ArrayRig::kBytes / 8, "%llu elements", ull(with.array.size()));
  for (const uint64_t index : {with.array.size(), with.array.size() + 1, uint64_t{1} << 61, ~uint64_t{0}}) {
    uint64_t value = 5;
    const gnv::Outcome outcome = with.array.read(index, value);
    REQUIRE(outcome.ending() == GNV_INVALID && outcome.reason() == GNV_BAD_INDEX && value == 5, "index %llu", ull(index));
    REQUIRE(with.array.pin(index).outcome.reason() == GNV_BAD_INDEX, "index %llu", ull(index));
  }
  with.expect_misses(0);
}

// Layouts with one defect each.
void layout() {
  constexpr uint32_t kBlockShift = 9, kPageShift = 13;
  alignas(512) static char memory[2 << kPageShift];
  gnv_array valid = Case(2).rig.array;
  // Never dereferenced.
  valid.sets = reinterpret_cast<gnv_page_set*>(memory);
  valid.words = valid.outcomes = reinterpret_cast<uint64_t*>(memory);
  valid.memory.data = memory;
  valid.memory.bytes = sizeof(memory);
  valid.block_shift = kBlockShift;
  valid.page_shift = kPageShift;
  valid.bytes = 1 << 30;
  gnv_drive drive = {valid.first_block + (valid.bytes >> kBlockShift), 1, kBlockShift, 16, 0, 1, 0};
  const auto expect = [&](gnv_array_problem problem, void (*spoil)(gnv_array&)) {
    gnv_array array = valid;
    spoil(array);
    const gnv_array_problem found = gnv_check_array(&array, &drive);
    REQUIRE(found == problem, "problem %u, not %u", found, problem);
  };
  expect(GNV_ARRAY_VALID, [](gnv_array&) {});
  expect(GNV_ARRAY_BAD_VERSION, [](gnv_array& array) { array.version++; });
  expect(GNV_ARRAY_BAD_VERSION, [](gnv_array& array) { array.device.version++; });
  expect(GNV_ARRAY_BAD_DRIVE, [](gnv_array& array) { array.drive = 1; });
  expect(GNV_ARRAY_BAD_DRIVE, [](gnv_array& array) { array.block_shift++; });
  expect(GNV_ARRAY_BAD_DRIVE, [](gnv_array& array) { array.device.drives = nullptr; });
  expect(GNV_ARRAY_BAD_DRIVE, [](gnv_array& array) { array.device.queues = nullptr; });
  expect(GNV_ARRAY_BAD_PAGE, [](gnv_array& array) { array.page_shift = array.block_shift - 1; });
  expect(GNV_ARRAY_BAD_PAGE, [](gnv_array& array) { array.page_shift = array.block_shift + 5; });
  expect(GNV_ARRAY_BAD_PAGE, [](gnv_array& array) { array.page_shift = array.block_shift + 64; });
  expect(GNV_ARRAY_BAD_SLOTS, [](gnv_array& array) { array.ways = 0; });
  expect(GNV_ARRAY_BAD_SLOTS, [](gnv_array& array) { array.set_shift = 31; });
  expect(GNV_ARRAY_BAD_SLOTS, [](gnv_array& array) { array.set_shift = 64; });
  expect(GNV_ARRAY_BAD_MEMORY, [](gnv_array& array) { array.words = nullptr; });
  expect(GNV_ARRAY_BAD_MEMORY, [](gnv_array& array) { array.memory.data = nullptr; });
  expect(GNV_ARRAY_BAD_MEMORY, [](gnv_array& array) { array.memory.data = memory + 256; });
  expect(GNV_ARRAY_BAD_MEMORY, [](gnv_array& array) { array.memory.bytes--; });
  expect(GNV_ARRAY_BAD_EXTENT, [](gnv_array& array) { array.bytes = 0; });
  expect(GNV_ARRAY_BAD_EXTENT, [](gnv_array& array) { array.bytes++; });
  expect(GNV_ARRAY_BAD_EXTENT, [](gnv_array& array) { array.first_block++; });
  expect(GNV_ARRAY_BAD_EXTENT, [](gnv_array& array) { array.first_block = ~0ULL; });
  drive.blocks = ~0ULL;
  expect(GNV_ARRAY_VALID, [](gnv_array& array) { array.bytes = 1ULL << (40 + kPageShift); });
  expect(GNV_ARRAY_BAD_EXTENT, [](gnv_array& array) { array.bytes = (1ULL << (40 + kPageShift)) + 1; });
  drive.block_shift = 8;
  expect(GNV_ARRAY_BAD_DRIVE, [](gnv_array& array) { array.block_shift = 8; });
}

// Blocks beyond the extent are not read: it ends with the namespace.
void last_page() {
  const Case with(1);
  Array::Page page = with.array.pin(with.array.size() - 1);
  REQUIRE(page.ok() && page.count == 2 && page.first == with.array.size() - 2, "%u elements from %llu", page.count, ull(page.first));
  REQUIRE(page.data[1] == ArrayRig::content(with.array.size() - 1), "%llx", ull(page.data[1]));
  with.array.unpin(page);
  page = with.array.pin(70);
  REQUIRE(page.ok() && page.count == 32 && page.first == 64, "%u elements from %llu", page.count, ull(page.first));
  with.array.unpin(page);
}

// Two types of elements over the same cache.
void views() {
  const Case with(1);
  with.expect(3, GNV_SUCCESS);
  const ArrayOf<uint32_t> halves{with.rig.array};
  for (uint32_t i = 0; i < 2; i++) {
    uint32_t value = 0;
    REQUIRE(halves.read(3 * 64 + 10 + i, value).ok(), "half %u", i);
    REQUIRE(value == static_cast<uint32_t>(ArrayRig::content(3 * 32 + 5) >> 32 * i), "half %u: %x", i, value);
  }
  with.expect_misses(1);
}

void large_numbers() {
  const Case with(4);
  for (uint32_t round = 0; round < 2; round++)
    for (uint64_t page = 7; page < ArrayRig::kBytes >> ArrayRig::kPageShift; page += 1ULL << 37) with.expect(page, GNV_SUCCESS);
  with.expect_misses(4);
}

// The clock spares pages that were used since its last pass, once.
void clock() {
  const Case with(3);
  for (const uint64_t page : {0, 1, 2, 3}) with.expect(page, GNV_SUCCESS);
  with.expect_misses(4);
  // Page 3 has replaced page 0. Page 1 is used again; page 2 is not.
  with.expect(1, GNV_SUCCESS);
  with.expect(4, GNV_SUCCESS);
  with.expect_misses(5);
  with.expect(1, GNV_SUCCESS);
  with.expect(3, GNV_SUCCESS);
  with.expect_misses(5);
  with.expect(2, GNV_SUCCESS);
  with.expect_misses(6);
  const gnv_page_set sum = with.rig.finish();
  REQUIRE(sum.evictions == 3 && sum.hits == 3, "%llu evictions, %llu hits", ull(sum.evictions), ull(sum.hits));
}

void pinned() {
  const Case with(2);
  Array::Page page = with.array.pin(5);
  for (uint64_t each = 1; each < 9; each++) with.expect(each, GNV_SUCCESS);
  REQUIRE(page.data[5] == ArrayRig::content(5), "%llx", ull(page.data[5]));
  with.expect(0, GNV_SUCCESS);
  with.expect_misses(9);
  with.array.unpin(page);
  with.array.unpin(page);
  REQUIRE(page.data == nullptr, "the page is still accessible");
  with.rig.finish();
}

void busy() {
  const Case with(2);
  Array::Page pages[2] = {with.array.pin(0), with.array.pin(40)};
  const uint64_t start_ns = now_ns;
  with.expect(2, GNV_BUSY);
  REQUIRE(now_ns - start_ns >= kTimeout && now_ns - start_ns < kTimeout + 5000, "after %llu ns", ull(now_ns - start_ns));
  for (Array::Page& page : pages) with.array.unpin(page);
  with.expect(2, GNV_SUCCESS);
  with.expect_misses(3);
  REQUIRE(with.rig.finish().busy == 1, "busy accesses");
}

// A slot with the maximum number of references gets no more.
void references() {
  Case with(1);
  with.expect(0, GNV_SUCCESS);
  with.rig.words[0] |= GNV_PAGE_REFERENCES;
  const uint64_t word = with.rig.words[0];
  with.expect(0, GNV_BUSY);
  REQUIRE(with.rig.words[0] == word, "the word is %llx", ull(with.rig.words[0]));
}

void failed() {
  Case with(1);
  with.rig.status = 0x0281;
  for (uint32_t i = 0; i < 3; i++) {
    const gnv::Outcome outcome = with.read(0);
    REQUIRE(outcome.ending() == GNV_STATUS && outcome.status() == 0x0281, "ended with %u", outcome.ending());
  }
  Array::Page page = with.array.pin(0);
  REQUIRE(!page.ok() && page.data == nullptr && page.outcome.status() == 0x0281, "pinned");
  with.array.unpin(page);
  with.rig.status = 0;
  with.expect(0, GNV_SUCCESS);
  with.expect_misses(5);
  REQUIRE(with.rig.finish().evictions == 0, "a failed page was evicted");
}

// Commands that the device refuses: the layout was not checked.
void refused() {
  Case with(1);
  with.rig.shared.drives[0].max_blocks = 15;
  const gnv::Outcome outcome = with.read(0);
  REQUIRE(outcome.ending() == GNV_INVALID && outcome.reason() == GNV_BAD_BLOCKS, "ended with %u", outcome.ending());
  with.rig.shared.drives[0].max_blocks = 16;
  with.expect(0, GNV_SUCCESS);
}

// The slot of a timed-out read is not used again, whenever its data arrive; its page is read into another.
void timed_out() {
  Case with(2);
  is_answering = false;
  const uint64_t start_ns = now_ns;
  with.expect(0, GNV_TIMEOUT);
  REQUIRE(now_ns - start_ns >= kTimeout && now_ns - start_ns < kTimeout + 5000, "after %llu ns", ull(now_ns - start_ns));
  with.expect(0, GNV_HALTED);
  is_answering = true;
  for (gnv_queue& queue : with.rig.shared.pairs) queue.state = GNV_RUNNING;
  for (uint64_t page = 0; page < 6; page++) with.expect(page, GNV_SUCCESS);
  with.expect(0, GNV_SUCCESS);
  uint32_t quarantined = 0;
  for (const uint64_t word : with.rig.words) quarantined += state_in(word) == GNV_PAGE_QUARANTINED;
  REQUIRE(quarantined == 1, "%u slots are quarantined", quarantined);
  REQUIRE(with.rig.fetches == 8 && with.rig.shared.pairs[0].stale == 1, "the late completion did not arrive");
  // After the host has reset the controller.
  gnv_init_array(&with.rig.array);
  REQUIRE(with.rig.words[0] == 0 && with.rig.words[1] == 0, "a slot is in use");
}

void lost() {
  const Case with(2);
  is_answering = false;
  other = [] { rig->shared.pairs[0].state = GNV_QUEUE_LOST; };
  with.expect(0, GNV_LOST);
  REQUIRE(state_in(with.rig.words[0]) == GNV_PAGE_QUARANTINED, "the slot is not quarantined");
}

// A thread that waits for the read of another thread gives up when that read must have ended.
void stopped_reader() {
  static const Case* waiting;
  const Case with(2);
  waiting = &with;
  is_answering = false;
  other = [] {
    const uint64_t start_ns = now_ns;
    waiting->expect(0, GNV_BUSY);
    REQUIRE(now_ns - start_ns >= 2 * kTimeout && now_ns - start_ns < 2 * kTimeout + 5000, "after %llu ns", ull(now_ns - start_ns));
  };
  with.expect(0, GNV_TIMEOUT);
  REQUIRE(other == nullptr && with.rig.finish().busy == 1, "no thread waited");
}

struct Named {
  const char* name;
  void (*run)();
};
const Named kCases[] = {{"index", index},   {"layout", layout},         {"last_page", last_page}, {"views", views},
                        {"clock", clock},   {"large_numbers", large_numbers}, {"pinned", pinned}, {"busy", busy},
                        {"failed", failed}, {"references", references}, {"refused", refused},     {"timed_out", timed_out},
                        {"lost", lost},     {"stopped_reader", stopped_reader}};

}  // namespace
}  // namespace model

int main(int, char** args) {
  for (const auto& [name, run] : model::kCases) {
    if (strcmp(args[1], name) != 0) continue;
    run();
    return 0;
  }
  model::fail("no case %s", args[1]);
}

void gpunvme::CpuPort::wake_host(void*) {}
