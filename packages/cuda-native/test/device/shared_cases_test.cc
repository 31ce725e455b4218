// `shared_cases_test CASE`: one thread on a gnv::Device: outcomes of misuse, and of each ending.
#include "shared_rig.h"
#include "solo_team.cuh"

#include "cpu_port.cuh"

namespace model {
namespace {

SharedRig* rig;
// Whether the controller makes progress between polls.
bool is_answering = true;
Random numbers(1);
uint64_t now_ns = 1'000'000;

// Action of another thread after each store of 8 bytes.
void (*other)() = nullptr;

struct CasePort : CpuPort {
  static void mmio_store32(uint32_t* at, uint32_t value) {
    rig->rings(at, value);
    CpuPort::mmio_store32(at, value);
  }
  static void store_relaxed64(uint64_t* at, uint64_t value) {
    CpuPort::store_relaxed64(at, value);
    if (other != nullptr) other();
  }
  static void store_release64_gpu(uint64_t* at, uint64_t value) {
    CpuPort::store_release64_gpu(at, value);
    if (other != nullptr) other();
  }
  static uint64_t now_ns() { return model::now_ns; }
  static void relax(uint32_t) {
    model::now_ns += 1000;
    if (is_answering) rig->turn(numbers, {});
  }
};
using Device = gnv::BasicDevice<SoloTeam, CasePort>;

const SharedLayout kLayout = {.queues = 1, .entries = 4, .slots = 3, .commands = 8, .timeout_ns = 100'000};
constexpr uint64_t kFirst = SharedRig::kFirst;

// A device whose commands 0 to 7 are reads of one block.
struct Case {
  explicit Case(const SharedLayout& layout = kLayout) : rig(layout) {
    model::rig = &rig;
    for (uint32_t command = 0; command < layout.commands; command++) rig.expect(command, GPUNVME_NVM_OPCODE_READ, 1);
    rig.begin();
  }
  Device device() const { return Device{rig.device}; }
  gnv::Ticket read(uint32_t command) const {
    return device().read(0, kFirst + command, 1, rig.buffer, SharedRig::offset_of(command));
  }
  SharedRig rig;
};

void expect_ending(gnv::Outcome outcome, gnv_ending ending) {
  REQUIRE(outcome.ending() == ending, "ended with %u, not %u", outcome.ending(), ending);
}

void invalid() {
  Case with;
  Device device = with.device();
  const gnv::Buffer& buffer = with.rig.buffer;
  const auto expect_reason = [&](const gnv::Ticket& ticket, gnv_reason reason) {
    const gnv::Outcome outcome = device.wait(ticket);
    expect_ending(outcome, GNV_INVALID);
    REQUIRE(outcome.reason() == reason, "reason %u, not %u", outcome.reason(), reason);
  };
  const uint64_t blocks = with.rig.drives[0].blocks;
  expect_reason(device.read(1, kFirst, 1, buffer, 0), GNV_BAD_DRIVE);
  expect_reason(device.read(0, kFirst, 0, buffer, 0), GNV_BAD_BLOCKS);
  expect_reason(device.read(0, kFirst, SharedRig::kMaxBlocks + 1, buffer, 0), GNV_BAD_BLOCKS);
  expect_reason(device.read(0, blocks, 1, buffer, 0), GNV_BAD_RANGE);
  expect_reason(device.read(0, blocks - 1, 2, buffer, 0), GNV_BAD_RANGE);
  expect_reason(device.read(0, ~0ULL, 2, buffer, 0), GNV_BAD_RANGE);
  expect_reason(device.read(0, kFirst, 1, buffer, 2), GNV_BAD_ALIGNMENT);
  expect_reason(device.read(0, kFirst, 1, buffer, buffer.bytes - 12), GNV_BAD_BUFFER);
  expect_reason(device.read(0, kFirst, 1, buffer, ~0ULL - 3), GNV_BAD_BUFFER);
  with.rig.drives[0].flags = 0;
  expect_reason(device.write(0, kFirst, 1, buffer, 0), GNV_READ_ONLY);
  expect_reason(device.flush(0), GNV_READ_ONLY);
  REQUIRE(with.rig.pairs[0].sq_ticket == 0, "a command was submitted");
  expect_ending(device.wait(with.read(0)), GNV_SUCCESS);
}

// Without a drive, there is no queue either.
void no_drives() {
  Case with;
  with.rig.device.drive_count = 0;
  with.rig.device.queues = nullptr;
  expect_ending(with.device().wait(with.read(0)), GNV_INVALID);
}

void flush() {
  Case with;
  for (auto& queue : with.rig.queues) queue->controller.expected[0] = {0, GPUNVME_NVM_OPCODE_FLUSH, SharedRig::kNsid, 0, 0};
  expect_ending(with.device().wait(with.device().flush(0)), GNV_SUCCESS);
}

void waited_twice() {
  Case with;
  const gnv::Ticket ticket = with.read(0);
  expect_ending(with.device().wait(ticket), GNV_SUCCESS);
  expect_ending(with.device().wait(ticket), GNV_INVALID);
  REQUIRE(with.rig.pairs[0].free_count == 3, "%u of 3 slots are free", with.rig.pairs[0].free_count);
}

// The host has taken the queue back and freed its arrays.
void returned() {
  Case with;
  const gnv::Ticket ticket = with.read(0);
  with.rig.pairs[0].slot_count = 0;
  with.rig.pairs[0].slots = nullptr;
  const gnv::Outcome outcome = with.device().wait(ticket);
  expect_ending(outcome, GNV_INVALID);
  REQUIRE(outcome.reason() == GNV_BAD_TICKET, "reason %u", outcome.reason());
}

// The completion of a command comes once more while another one has its slot.
void repeated() {
  Case with;
  Controller& controller = with.rig.queues[0]->controller;
  const gnv::Ticket first = with.read(0);
  while (controller.outstanding.empty()) with.rig.turn(numbers, {});
  const uint16_t cid = controller.outstanding[0].cid;
  expect_ending(with.device().wait(first), GNV_SUCCESS);
  // The ring gives out the other slots first.
  for (uint32_t command = 1; command < kLayout.slots; command++)
    expect_ending(with.device().wait(with.read(command)), GNV_SUCCESS);
  const gnv::Ticket again = with.read(3);
  controller.stray(1, cid);
  const gnv::Outcome outcome = with.device().wait(again);
  expect_ending(outcome, GNV_SUCCESS);
  with.rig.end(3, outcome);
  REQUIRE(with.rig.pairs[0].stale == 1, "%u stale completions", with.rig.pairs[0].stale);
}

// Three tickets hold the three slots; a fourth command waits for its time limit, but no longer.
void busy() {
  Case with;
  gnv::Ticket tickets[3];
  for (uint32_t command = 0; command < 3; command++) tickets[command] = with.read(command);
  expect_ending(with.device().wait(with.read(3)), GNV_BUSY);
  for (const gnv::Ticket& ticket : tickets) expect_ending(with.device().wait(ticket), GNV_SUCCESS);
  expect_ending(with.device().wait(with.read(4)), GNV_SUCCESS);
}

// The slot of a command that timed out is not used again, whenever its completion arrives.
void timed_out() {
  Case with;
  is_answering = false;
  const uint64_t start_ns = now_ns;
  expect_ending(with.device().wait(with.read(0)), GNV_TIMEOUT);
  REQUIRE(now_ns - start_ns >= 100'000 && now_ns - start_ns < 110'000, "after %llu ns", ull(now_ns - start_ns));
  expect_ending(with.device().wait(with.read(1)), GNV_HALTED);
  is_answering = true;
  for (uint32_t i = 0; i < 20; i++) with.rig.turn(numbers, {});
  // The next poll consumes the late completion.
  with.rig.pairs[0].state = GNV_RUNNING;
  expect_ending(with.device().wait(with.read(2)), GNV_SUCCESS);
  REQUIRE(with.rig.pairs[0].stale == 1, "%u stale completions", with.rig.pairs[0].stale);
  REQUIRE(with.rig.pairs[0].free_count == 2, "%u of 3 slots are free", with.rig.pairs[0].free_count);
}

// A completion that had arrived counts, even if its thread looks after the deadline.
void late_look() {
  Case with;
  const gnv::Ticket ticket = with.read(0);
  for (uint32_t i = 0; i < 20; i++) with.rig.turn(numbers, {});
  now_ns += 1'000'000;
  expect_ending(with.device().wait(ticket), GNV_SUCCESS);
}

// Completions for which the CQ has no room until entries are released.
void full_cq() {
  Case with({.queues = 1, .entries = 16, .slots = 15, .commands = 24, .timeout_ns = 100'000});
  for (uint32_t command = 0; command < 3; command++) expect_ending(with.device().wait(with.read(command)), GNV_SUCCESS);
  gnv::Ticket tickets[15];
  for (uint32_t i = 0; i < 15; i++) tickets[i] = with.read(3 + i);
  for (uint32_t i = 0; i < 200; i++) with.rig.turn(numbers, {});
  now_ns += 1'000'000;
  for (const gnv::Ticket& ticket : tickets) expect_ending(with.device().wait(ticket), GNV_SUCCESS);
}

// A completion of another queue with the identifier of a command that has just completed.
void foreign() {
  Case with;
  const gnv::Ticket ticket = with.read(0);
  Controller& controller = with.rig.queues[0]->controller;
  while (controller.outstanding.empty()) with.rig.turn(numbers, {});
  controller.stray(99, controller.outstanding[0].cid);
  controller.complete(0);
  expect_ending(with.device().wait(ticket), GNV_SUCCESS);
  REQUIRE(with.rig.pairs[0].stale == 1, "%u stale completions", with.rig.pairs[0].stale);
}

// Another thread ends overdue commands while this one submits.
void submitted_during_expiry() {
  Case with;
  other = [] {
    Waiters sink;
    expire<SoloTeam, CasePort>(rig->pairs[0], Lanes<SoloTeam>::of(1), Ending::TIMEOUT, now_ns, sink);
  };
  const gnv::Ticket ticket = with.read(0);
  other = nullptr;
  expect_ending(with.device().wait(ticket), GNV_SUCCESS);
}

void lost() {
  Case with;
  is_answering = false;
  const gnv::Ticket ticket = with.read(0);
  with.rig.pairs[0].state = GNV_QUEUE_LOST;
  const uint64_t start_ns = now_ns;
  expect_ending(with.device().wait(ticket), GNV_LOST);
  REQUIRE(now_ns - start_ns <= 1000, "after %llu ns", ull(now_ns - start_ns));
  REQUIRE(with.rig.pairs[0].state == GNV_QUEUE_LOST, "state %u", with.rig.pairs[0].state);
  expect_ending(with.device().wait(with.read(1)), GNV_HALTED);
}

// While the host halts a queue, commands in flight are awaited.
void halted() {
  Case with;
  const gnv::Ticket ticket = with.read(0);
  with.rig.pairs[0].state = GNV_QUEUE_HALTED;
  expect_ending(with.device().wait(with.read(1)), GNV_HALTED);
  expect_ending(with.device().wait(ticket), GNV_SUCCESS);
}

struct Named {
  const char* name;
  void (*run)();
};
const Named kCases[] = {{"invalid", invalid},     {"no_drives", no_drives}, {"flush", flush},         {"waited_twice", waited_twice},
                        {"repeated", repeated},   {"returned", returned},
                        {"busy", busy},           {"timed_out", timed_out}, {"late_look", late_look},
                        {"full_cq", full_cq},
                        {"foreign", foreign},
                        {"submitted_during_expiry", submitted_during_expiry},
                        {"lost", lost},           {"halted", halted}};

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
