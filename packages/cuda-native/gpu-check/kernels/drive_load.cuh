// Commands from many GPU threads at once, on queues that a PatternDrive serves: in another kernel for queues in GPU memory, or in
// CPU threads for queues in host memory.
#pragma once

#include "host_words.cuh"
#include "pattern_drive.cuh"
#include "ticket_queue.cuh"

namespace gpunvme {

template <class Team>
GPUNVME_DEVICE uint64_t thread_of() {
  return static_cast<uint64_t>(Team::block()) * Team::threads() + Team::thread();
}

// Memory for queues, in arrays indexed by queue. Addresses are the GPU's.
struct QueueMemory {
  uint64_t queues;
  uint64_t entries;
  uint64_t slots;
  uint64_t prp_list_bytes;
  // Accessed by the drive: submission queues, completion queues of zeros, doorbells, PRP lists.
  uint64_t sqs;
  uint64_t cqs;
  // A pair of doorbells every `doorbell_stride` bytes.
  uint64_t doorbells;
  uint64_t doorbell_stride;
  uint64_t prp_lists;
  uint64_t prp_list_iova;
  // Accessed only by kernels: gnv_queue and gnv_slot; `ready` and `free_slots` have `entries` 32-bit words per queue.
  uint64_t words;
  uint64_t slot_words;
  uint64_t ready;
  uint64_t free_slots;
  // DriveQueue, and 32-bit words by slot. 0: CPU threads serve the queues.
  uint64_t served;
  uint64_t in_flight;
  // An IOVA per queue, and one for the buffer.
  uint64_t iovas;
  uint64_t buffer_iova;
  // Copied to `drives`.
  gnv_drive drive;
  uint64_t drives;
};
static_assert(sizeof(QueueMemory) == 8 * 23, "written by the host");

// Initializes one queue per thread.
template <class Team>
GPUNVME_DEVICE void lay_out_queues(const QueueMemory& memory) {
  const uint64_t index = thread_of<Team>();
  if (index >= memory.queues) return;
  if (index == 0) {
    *pointer_to<gnv_drive>(memory.drives) = memory.drive;
    pointer_to<uint64_t>(memory.iovas)[memory.queues] = memory.buffer_iova;
  }
  const uint64_t entries = memory.entries, slots = memory.slots;
  const uint64_t doorbells = memory.doorbells + index * memory.doorbell_stride;
  gnv_queue& queue = pointer_to<gnv_queue>(memory.words)[index];
  uint64_t* const list_iova = pointer_to<uint64_t>(memory.iovas) + index;
  *list_iova = memory.prp_list_iova + index * slots * memory.prp_list_bytes;
  queue = {};
  queue.sq = pointer_to<void>(memory.sqs + index * entries * 64);
  queue.cq = pointer_to<const uint64_t>(memory.cqs + index * entries * 16);
  queue.tail_doorbell = pointer_to<uint32_t>(doorbells);
  queue.head_doorbell = pointer_to<uint32_t>(doorbells + 4);
  queue.prp_lists = pointer_to<uint64_t>(memory.prp_lists + index * slots * memory.prp_list_bytes);
  queue.prp_list_runs = {list_iova, 63};
  queue.slots = pointer_to<gnv_slot>(memory.slot_words) + index * slots;
  queue.ready = pointer_to<uint32_t>(memory.ready) + index * entries;
  queue.free_slots = pointer_to<uint32_t>(memory.free_slots) + index * entries;
  queue.entries = static_cast<uint32_t>(entries);
  queue.slot_count = static_cast<uint32_t>(slots);
  queue.qid = static_cast<uint32_t>(index) + 1;
  queue.prp_list_bytes = static_cast<uint32_t>(memory.prp_list_bytes);
  queue.page_bytes = 4096;
  gnv_init_queue(&queue);
  if (memory.served == 0) return;
  const uint32_t numbers = 1u << queue.slot_bits;
  DriveQueue& drive = pointer_to<DriveQueue>(memory.served)[index];
  drive = {};
  drive.sq = reinterpret_cast<uintptr_t>(queue.sq);
  drive.cq = reinterpret_cast<uintptr_t>(queue.cq);
  drive.tail_doorbell = doorbells;
  drive.head_doorbell = doorbells + 4;
  drive.in_flight = memory.in_flight + index * numbers * 4;
  drive.entries = queue.entries;
  drive.qid = queue.qid;
  drive.slots = numbers;
}

// Passed by value.
struct DriveLoad {
  gnv_device device;
  gnv_buffer buffer;
  DriveNamespace space;
  DrivePlan plan;
  // Commands per thread, blocks per command, and places in the buffer: one place per thread if the drive moves data.
  uint64_t rounds;
  uint64_t blocks;
  uint64_t places;
};
static_assert(sizeof(DriveLoad) == 8 * 24, "written by the host");

// Passed by value.
struct DriveService {
  DriveNamespace space;
  DrivePlan plan;
  // A queue per warp.
  DriveQueue* queues;
  uint64_t queue_count;
  // The service ends when this many warps of the load have ended, or at the time limit.
  uint64_t clients;
  uint64_t limit_ns;
};
static_assert(sizeof(DriveService) == 8 * 17, "written by the host");

// In GPU memory. The host sets the times to 2^64 - 1, and the other words to 0.
struct DriveTotals {
  uint64_t first_start_ns;
  // 2^64 - 1 minus the time.
  uint64_t last_end_ns;
  // Warps that have started, and that have ended.
  uint64_t started;
  uint64_t ended;
  // Numbers of outcomes by gnv_ending, and of words that differ from the pattern.
  uint64_t endings[8];
  uint64_t wrong_words;
};
static_assert(sizeof(DriveTotals) == 8 * 13, "read by the host");

// Serves the queue of this warp until all clients have ended.
template <class Team, class Port>
GPUNVME_DEVICE void serve_drive(const DriveService& service, DriveTotals& totals) {
  const uint64_t warp = thread_of<Team>() / Team::kLanes;
  if (warp >= service.queue_count) return;
  PatternDrive<Team, Port> drive(service.queues[warp], service.space, service.plan);
  const uint64_t end_ns = Port::now_ns() + service.limit_ns;
  for (uint32_t idle = 0;;) {
    const bool is_busy = drive.turn();
    idle = is_busy ? 0 : idle + 1;
    if (is_busy) continue;
    const bool is_over = Port::load_acquire64_gpu(&totals.ended) == service.clients || Port::now_ns() >= end_ns;
    if (Team::ballot(Team::kAllLanes, is_over) != 0) break;
    Port::relax(idle < 64 ? idle : 64);
  }
  drive.report();
}

// Waits until all warps of the load run. Returns whether they do within the time limit: a small GPU may not run them all at once.
template <class Team, class Port>
GPUNVME_DEVICE bool start_together(DriveTotals& totals, uint64_t clients, uint64_t limit_ns) {
  if (Team::lane() == 0) Port::add64_gpu(&totals.started, 1);
  const uint64_t end_ns = Port::now_ns() + limit_ns;
  bool have_started = false;
  for (uint32_t polls = 0; !have_started && Port::now_ns() < end_ns; polls++) {
    have_started = Port::load_acquire64_gpu(&totals.started) == clients;
    if (!have_started) Port::relax(polls);
  }
  return Team::ballot(Team::kAllLanes, !have_started) == 0;
}

// Executes `rounds` reads per lane of a warp, and checks the data if the drive moves them. `read(slba, offset)` reads the blocks
// of one command into the buffer, and returns a gnv::Outcome; all lanes call it together.
template <class Team, class Port, class Read>
GPUNVME_DEVICE void load_drive(const DriveLoad& load, DriveTotals& totals, const Read& read) {
  const uint64_t thread = thread_of<Team>(), clients = static_cast<uint64_t>(Team::blocks()) * Team::threads() / Team::kLanes;
  const uint64_t bytes = load.blocks << load.space.block_shift, offset = thread % load.places * bytes;
  const uint64_t lengths = load.space.blocks / load.blocks;
  const uint64_t* const data = static_cast<const uint64_t*>(load.buffer.data) + offset / 8;
  uint64_t successes = 0, wrong = 0;
  // A warp that starts alone reads nothing, so that the host finds too few outcomes.
  const uint64_t rounds = start_together<Team, Port>(totals, clients, load.device.timeout_ns) ? load.rounds : 0;
  Team::atomic_min(&totals.first_start_ns, Port::now_ns());
  GPUNVME_ROLLED
  for (uint64_t round = 0; round < rounds; round++) {
    const uint64_t slba = pattern_word(round, thread) % lengths * load.blocks;
    const gnv::Outcome outcome = read(slba, offset);
    if (outcome.ok()) successes++;
    else Team::atomic_add(&totals.endings[outcome.ending() & 7], uint64_t{1});
    if (load.plan.moves_data == 0 || !outcome.ok()) continue;
    const uint64_t first = (slba << load.space.block_shift) / 8;
    GPUNVME_ROLLED
    for (uint64_t i = 0; i < bytes / 8; i++) wrong += data[i] != pattern_word(load.space.seed, first + i);
  }
  Team::atomic_min(&totals.last_end_ns, ~Port::now_ns());
  Team::atomic_add(&totals.endings[GNV_SUCCESS], successes);
  Team::atomic_add(&totals.wrong_words, wrong);
  Team::sync_warp(Team::kAllLanes);
  if (Team::lane() == 0) Port::add64_gpu(&totals.ended, 1);
}

// Runs a load through gnv::Device.
template <class Team, class Port>
GPUNVME_DEVICE void load_by_device(const DriveLoad& load, DriveTotals& totals) {
  const gnv::BasicDevice<Team, Port> device{load.device};
  load_drive<Team, Port>(load, totals, [&](uint64_t slba, uint64_t offset) {
    const uint32_t blocks = static_cast<uint32_t>(load.blocks);
    return device.wait(device.read(0, slba, blocks, load.buffer, offset, Team::kAllLanes), Team::kAllLanes);
  });
}

// Runs a load through TicketQueues, whose words are initially 0. Each warp uses the same queue as with gnv::Device.
template <class Team, class Port>
GPUNVME_DEVICE void load_by_tickets(const DriveLoad& load, DriveTotals& totals, uint8_t* words) {
  const gnv_drive& drive = load.device.drives[0];
  const uint32_t index = drive.first_queue + static_cast<uint32_t>(thread_of<Team>() / Team::kLanes) % drive.queue_count;
  TicketQueue<Port> queue(load.device.queues[index], words, index, load.device.timeout_ns);
  load_drive<Team, Port>(load, totals, [&](uint64_t slba, uint64_t offset) {
    const uint32_t blocks = static_cast<uint32_t>(load.blocks);
    return gnv::Outcome(queue.run({GPUNVME_NVM_OPCODE_READ, drive.nsid, slba, blocks, load.blocks << drive.block_shift,
                                   load.buffer.runs, offset}));
  });
}

// Ends the kernel that serves the queues, after a kernel that does not count its own warps in the totals. One thread.
template <class Port>
GPUNVME_DEVICE void end_drive(DriveTotals& totals) {
  Port::add64_gpu(&totals.ended, 1);
}

// Adds up the first `words` words of the drive, modulo 2^64, without reading them.
template <class Team>
GPUNVME_DEVICE void sum_pattern(uint64_t seed, uint64_t words, uint64_t* sum) {
  uint64_t of_thread = 0;
  for (uint64_t i = thread_of<Team>(); i < words; i += static_cast<uint64_t>(Team::blocks()) * Team::threads())
    of_thread += pattern_word(seed, i);
  Team::atomic_add(sum, of_thread);
}

}  // namespace gpunvme
