// `fetch_cases_test CASE`: fetches that are rejected as a whole or in part, by one thread of the CPU.
#include "cpu_port.cuh"
#include "fetch_rig.h"
#include "solo_team.cuh"

inline void gpunvme::CpuPort::wake_host(void*) {}

namespace model {
namespace {

// Completes the reads in flight whenever the thread polls in vain.
struct CasePort : CpuPort {
  static inline FetchRig* rig = nullptr;
  static inline Random* random = nullptr;
  static void relax(uint32_t) { rig->rig.turn(*random, {}); }
};

// A fetch of expert 0 of layer 0, in the middle of skipped positions.
struct Case {
  static constexpr uint32_t kAt = 3;
  Random random{7};
  FetchRig rig{{}, random};
  gnv_fetch fetch;
  gnv_device device;

  Case() {
    CasePort::rig = &rig;
    CasePort::random = &random;
    fetch = rig.prepare(random);
    for (uint32_t& id : rig.ids) id = GNV_FETCH_SKIP;
    rig.ids[kAt] = 0;
    fetch.layer = 0;
    rig.destinations[kAt] = {0, rig.table().max_bytes};
    device = rig.rig.device;
  }

  gnv_expert& expert() { return rig.expert_entry(0); }
  gnv_extent& extent() { return rig.extent_entry(0); }

  void run() {
    SoloTeam::place() = {0, 1};
    fetch_experts<SoloTeam, CasePort>(gnv::BasicDevice<SoloTeam, CasePort>{device}, fetch);
  }

  void reject(gnv_fetch_reason reason) {
    run();
    const gnv_fetch_result& result = rig.results[kAt];
    REQUIRE(result.ending == GNV_FETCH_REJECTED && result.reason == static_cast<uint32_t>(reason),
            "ending %u reason %u, expected a rejection with reason %u", result.ending, result.reason, reason);
    for (const gnv_queue& queue : rig.rig.pairs) REQUIRE(queue.sq_ticket == 0, "a read was submitted");
    for (const uint8_t byte : rig.rig.memory) REQUIRE(byte == 0xa5, "memory was written");
  }
};

template <class Change>
void rejects(gnv_fetch_reason reason, const Change& change) {
  Case each;
  change(each);
  each.reject(reason);
}

void verified() {
  Case each;
  each.run();
  REQUIRE(each.rig.results[Case::kAt].ending == GNV_FETCH_VERIFIED, "ending %u", each.rig.results[Case::kAt].ending);
  REQUIRE(each.rig.results[0].ending == GNV_FETCH_SKIPPED, "ending %u of a skipped position", each.rig.results[0].ending);
}

void layer() {
  rejects(GNV_FETCH_BAD_LAYER, [](Case& each) { each.fetch.layer = each.rig.table().layer_count; });
}

void expert() {
  rejects(GNV_FETCH_BAD_EXPERT, [](Case& each) { each.rig.ids[Case::kAt] = each.rig.layout.experts; });
  rejects(GNV_FETCH_BAD_EXPERT, [](Case& each) { each.rig.ids[Case::kAt] = GNV_FETCH_SKIP - 1; });
  rejects(GNV_FETCH_BAD_EXPERT, [](Case& each) { each.expert().extent_count = 0; });
  rejects(GNV_FETCH_BAD_EXPERT, [](Case& each) { each.rig.table().expert_count = 0; });
}

void extent() {
  const auto rejects_extent = [](const auto& change) { rejects(GNV_FETCH_BAD_EXTENT, change); };
  rejects_extent([](Case& each) { each.extent().offset += 4; });
  rejects_extent([](Case& each) { each.extent().offset = 0 - uint64_t{16}; });
  rejects_extent([](Case& each) { each.extent().skip = FetchRig::kBlock; });
  rejects_extent([](Case& each) { each.extent().bytes = 0; });
  rejects_extent([](Case& each) { each.extent().bytes = ~0ULL; });
  rejects_extent([](Case& each) { each.extent().first_block = each.device.drives[0].blocks - 1; each.extent().bytes = 200; });
  rejects_extent([](Case& each) { each.extent().first_block = ~0ULL; });
  rejects_extent([](Case& each) { each.expert().bytes = (1ULL << 40) + 16; });
  rejects_extent([](Case& each) { each.expert().bytes -= 16; });
  rejects_extent([](Case& each) { each.expert().extent_count = FetchRig::kMaxExtents + 1; });
  rejects_extent([](Case& each) { each.expert().first_extent = each.rig.table().extent_count; });
  rejects_extent([](Case& each) { each.expert().first_extent = ~0u; });
  // The second extent overlaps the first by 16 bytes, or precedes it.
  const auto overlaps = [](Case& each, uint64_t first, uint64_t second) {
    each.expert() = {160, 0, 2};
    each.rig.extent_entry(0) = {SharedRig::kFirst, first, 64, 0, 0, 0, 0};
    each.rig.extent_entry(1) = {SharedRig::kFirst, second, 64, 0, 0, 0, 0};
  };
  rejects_extent([&](Case& each) { overlaps(each, 0, 48); });
  rejects_extent([&](Case& each) { overlaps(each, 0, 0); });
  rejects_extent([&](Case& each) { overlaps(each, 64, 0); });
}

void drive() {
  rejects(GNV_FETCH_BAD_DRIVE, [](Case& each) { each.extent().drive = each.device.drive_count; });
  rejects(GNV_FETCH_BAD_DRIVE, [](Case& each) { each.rig.rig.drives[0].max_blocks = 0; });
  rejects(GNV_FETCH_BAD_DRIVE, [](Case& each) { each.rig.table().block_shift++; });
}

void destination() {
  const auto rejects_destination = [](const auto& change) { rejects(GNV_FETCH_BAD_DESTINATION, change); };
  rejects_destination([](Case& each) { each.rig.destinations[Case::kAt].offset = 4; });
  rejects_destination([](Case& each) { each.rig.destinations[Case::kAt].bytes = each.expert().bytes - 1; });
  rejects_destination([](Case& each) { each.rig.destinations[Case::kAt].bytes = each.fetch.buffer.bytes + 16; });
  rejects_destination([](Case& each) { each.rig.destinations[Case::kAt].offset = 0 - uint64_t{16}; });
  rejects_destination([](Case& each) { each.fetch.buffer.data = nullptr; });
}

// Ends the request of expert 0 after one of an expert that does not exist, in its own destination.
gnv_fetch_result after_destination(gnv_destination lower, uint64_t offset, uint32_t lower_id) {
  Case each;
  each.rig.ids[1] = lower_id;
  each.rig.destinations[1] = lower;
  each.rig.destinations[Case::kAt].offset = offset;
  each.rig.destinations[Case::kAt].bytes = each.expert().bytes;
  each.run();
  return each.rig.results[Case::kAt];
}

void overlap() {
  const uint64_t bytes = Case().expert().bytes;
  const uint32_t other = FetchLayout().experts;
  const auto expect = [](const gnv_fetch_result& result, bool is_rejected) {
    const bool as_expected = is_rejected ? result.ending == GNV_FETCH_REJECTED && result.reason == GNV_FETCH_BAD_DESTINATION
                                         : result.ending == GNV_FETCH_VERIFIED;
    REQUIRE(as_expected, "ending %u reason %u", result.ending, result.reason);
  };
  expect(after_destination({0, 64}, 48, other), true);
  expect(after_destination({48, 64}, 48, other), true);
  expect(after_destination({48 + bytes - 16, 64}, 48, other), true);
  expect(after_destination({0, ~0ULL}, 48, other), true);
  expect(after_destination({0, 48}, 48, other), false);
  expect(after_destination({48 + bytes, 64}, 48, other), false);
  // A destination that is not used.
  expect(after_destination({48, 64}, 48, GNV_FETCH_SKIP), false);
}

// More positions than the threads of a block can plan.
void count() {
  Case each;
  const uint32_t count = GNV_FETCH_MAX_POSITIONS + 1;
  std::vector<uint32_t> ids(count, 0);
  std::vector<gnv_fetch_result> results(count);
  each.fetch.ids = ids.data();
  each.fetch.results = results.data();
  each.fetch.count = count;
  each.run();
  for (uint32_t at = 0; at < count; at++)
    REQUIRE(results[at].ending == GNV_FETCH_REJECTED && results[at].reason == GNV_FETCH_BAD_COUNT && results[at].position == at,
            "position %u: ending %u reason %u", at, results[at].ending, results[at].reason);
  for (const gnv_queue& queue : each.rig.rig.pairs) REQUIRE(queue.sq_ticket == 0, "a read was submitted");
}

// Blocks of some threads, of which one runs.
template <uint32_t THREADS>
struct OddTeam : SoloTeam {
  static constexpr uint32_t kLanes = 32;
  static uint32_t threads() { return THREADS; }
};

template <uint32_t THREADS>
void rejects_block() {
  Case each;
  // The thread stores every n-th result.
  each.fetch.count = 1;
  fetch_experts<OddTeam<THREADS>, CasePort>(gnv::BasicDevice<OddTeam<THREADS>, CasePort>{each.device}, each.fetch);
  const gnv_fetch_result& result = each.rig.results[0];
  REQUIRE(result.ending == GNV_FETCH_REJECTED && result.reason == GNV_FETCH_BAD_BLOCK, "%u threads: ending %u reason %u", THREADS,
          result.ending, result.reason);
}

void block() {
  rejects_block<1>();
  rejects_block<16>();
  rejects_block<48>();
}

void none() {
  Case each;
  each.fetch.count = 0;
  each.run();
  REQUIRE(each.rig.results[0].ending == GNV_FETCH_PENDING, "a result was stored");
}

// All identifiers are equal: one read, and as many results.
void same() {
  Case each;
  for (uint32_t& id : each.rig.ids) id = 0;
  each.rig.destinations[0] = each.rig.destinations[Case::kAt];
  each.run();
  for (uint32_t at = 0; at < each.rig.layout.positions; at++)
    REQUIRE(each.rig.results[at].ending == GNV_FETCH_VERIFIED && each.rig.results[at].position == 0, "position %u: ending %u of %u",
            at, each.rig.results[at].ending, each.rig.results[at].position);
}

const struct {
  const char* name;
  void (*run)();
} kCases[] = {{"verified", verified}, {"layer", layer},   {"expert", expert}, {"extent", extent}, {"drive", drive},
              {"destination", destination}, {"overlap", overlap}, {"count", count}, {"block", block}, {"none", none},     {"same", same}};

}  // namespace
}  // namespace model

int main(int, char** args) {
  for (const auto& each : model::kCases) {
    if (strcmp(args[1], each.name) != 0) continue;
    each.run();
    return 0;
  }
  model::fail("no case %s", args[1]);
}
