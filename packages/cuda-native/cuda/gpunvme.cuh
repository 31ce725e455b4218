// Storage for CUDA authors: any thread of any kernel reads and writes blocks of NVMe drives, without the host.
//
//   // Each thread reads a block of a drive with blocks of 512 bytes, and adds up its words.
//   extern "C" __global__ void sum_blocks(gnv::Device device, gnv::Buffer buffer, uint64_t* sums) {
//     const uint64_t thread = uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
//     const gnv::Ticket ticket = device.read(0, thread, 1, buffer, thread * 512);
//     sums[thread] = 0;
//     if (!device.wait(ticket).ok()) return;
//     const uint64_t* block = static_cast<const uint64_t*>(buffer.data) + thread * 64;
//     for (int i = 0; i < 64; i++) sums[thread] += block[i];
//   }
//
// The process that owns the controllers creates the device and the buffer, with deviceQueues() of the npm package or from the
// layout in gpunvme_device.h, and passes them to kernels by value. Any number of threads may submit to a drive at once. Requires
// C++17 and compute capability 7.5 or newer, whose threads make progress independently.
//
// - Every submission has exactly one outcome. Every wait ends: with a completion, at the device's time limit, or when the
//   host declares the queue lost. A time-out halts the queue until the host has reset the controller.
// - A ticket holds a slot of its queue until a thread has waited for it. The tickets that all threads of a queue hold at once,
//   while they submit another command, must be fewer than its slots. Otherwise, threads that wait for slots can hold those
//   that others wait for, and end with GNV_BUSY.
// - After a successful outcome, the data of a read are visible to the threads that waited. Read the buffer by ordinary loads:
//   `wait` does not invalidate the cache of `const __restrict__` parameters, `__ldg` and textures. Stores of the calling
//   thread before a write are visible to the drive.
// - The buffer of a command with GNV_TIMEOUT or GNV_LOST may still be accessed by the drive until the host has reset it.
// - Only threads in `wait`, or waiting for a slot, consume completions. Call `wait` before a barrier behind which threads use
//   the data.
//
// Lanes of a warp that call a function together pass the same mask, which names exactly these lanes, as for `__syncwarp`. One
// lane then updates the queue for all, and one PCIe round trip serves up to 32 completions. By default, a thread acts alone.
#pragma once

#include "gpunvme_device.h"
#include "shared_queue.cuh"
#if defined(__CUDACC__)
#include "gpu_port.cuh"
#include "gpu_team.cuh"
#endif

namespace gnv {

using Buffer = ::gnv_buffer;

// How a command ended.
class Outcome {
 public:
  explicit GPUNVME_DEVICE Outcome(uint64_t word) : word_(word) {}
  GPUNVME_DEVICE bool ok() const { return ending() == GNV_SUCCESS; }
  GPUNVME_DEVICE gnv_ending ending() const { return static_cast<gnv_ending>(word_ >> GNV_ENDING_SHIFT & 0xff); }
  // Status of a GNV_STATUS outcome: the Status field without the Phase Tag (Base 2.1 §4.2.3).
  GPUNVME_DEVICE uint32_t status() const { return word_ & 0x7fff; }
  // Reason of a GNV_INVALID outcome.
  GPUNVME_DEVICE gnv_reason reason() const { return static_cast<gnv_reason>(word_ & 0xffff); }
  // Returns the outcome, encoded as in gpunvme_device.h.
  GPUNVME_DEVICE uint64_t word() const { return word_; }

 private:
  uint64_t word_;
};

// Handle of a submission. Wait for it exactly once.
struct Ticket {
  uint32_t queue;
  // Pending with its identifier, the final outcome, or the reason for rejection.
  uint64_t outcome;
};

// `Team` identifies lanes (warp.cuh); `Port` accesses memory (gpu_port.cuh).
template <class Team, class Port>
struct BasicDevice : ::gnv_device {
  static GPUNVME_DEVICE uint32_t alone() { return 1u << Team::lane(); }

  // Submits a read of `blocks` blocks, starting at `slba`, to byte `offset` of the buffer.
  GPUNVME_DEVICE Ticket read(uint32_t drive, uint64_t slba, uint32_t blocks, const Buffer& to, uint64_t offset,
                             uint32_t mask = alone()) const {
    return submit({drive, GPUNVME_NVM_OPCODE_READ, slba, blocks, &to, offset}, mask);
  }

  // Submits a write of `blocks` blocks from byte `offset` of the buffer, starting at `slba`.
  GPUNVME_DEVICE Ticket write(uint32_t drive, uint64_t slba, uint32_t blocks, const Buffer& from, uint64_t offset,
                              uint32_t mask = alone()) const {
    return submit({drive, GPUNVME_NVM_OPCODE_WRITE, slba, blocks, &from, offset}, mask);
  }

  // Submits a Flush of the namespace.
  GPUNVME_DEVICE Ticket flush(uint32_t drive, uint32_t mask = alone()) const {
    return submit({drive, GPUNVME_NVM_OPCODE_FLUSH, 0, 0, nullptr, 0}, mask);
  }

  // Waits until the command of the ticket has ended, and frees its slot unless it timed out or was lost.
  GPUNVME_DEVICE Outcome wait(const Ticket& ticket, uint32_t mask = alone()) const {
    uint64_t outcome = ticket.outcome;
    const bool waits = outcome >> GNV_ENDING_SHIFT == 0;
    // A device without drives has no queue 0.
    if (Team::ballot(mask, waits) == 0) return Outcome(outcome);
    by_queue(mask, ticket.queue, [&](gnv_queue& queue, const gpunvme::Lanes<Team>& lanes) {
      const uint64_t word = gpunvme::wait<Team, Port>(queue, lanes, gpunvme::cid_in(outcome), waits);
      if (waits) outcome = word;
    });
    return Outcome(outcome);
  }

 private:
  struct Request {
    uint32_t drive;
    uint32_t opcode;
    uint64_t slba;
    uint32_t blocks;
    const Buffer* buffer;
    uint64_t offset;
  };

  // Returns 0 or the reason to refuse a request.
  GPUNVME_DEVICE uint32_t problem_of(const Request& request) const {
    if (request.drive >= drive_count) return GNV_BAD_DRIVE;
    const gnv_drive& drive = drives[request.drive];
    if (request.opcode != GPUNVME_NVM_OPCODE_READ && (drive.flags & GNV_WRITABLE) == 0) return GNV_READ_ONLY;
    if (request.opcode == GPUNVME_NVM_OPCODE_FLUSH) return 0;
    if (request.blocks == 0 || request.blocks > drive.max_blocks) return GNV_BAD_BLOCKS;
    if (request.slba >= drive.blocks || request.blocks > drive.blocks - request.slba) return GNV_BAD_RANGE;
    if (request.offset % 4 != 0) return GNV_BAD_ALIGNMENT;
    const uint64_t bytes = static_cast<uint64_t>(request.blocks) << drive.block_shift;
    if (bytes > request.buffer->bytes || request.offset > request.buffer->bytes - bytes) return GNV_BAD_BUFFER;
    return 0;
  }

  GPUNVME_DEVICE Ticket submit(const Request& request, uint32_t mask) const {
    const uint32_t problem = problem_of(request);
    gpunvme::Submission submission = {request.opcode, 0, request.slba, request.blocks, 0, {}, request.offset};
    if (request.buffer != nullptr) submission.memory = request.buffer->runs;
    gpunvme::Flight flight = {0, gpunvme::refusal(GNV_INVALID, problem), false};
    uint32_t queue_index = 0;
    bool wants = problem == 0;
    if (wants) {
      const gnv_drive& drive = drives[request.drive];
      submission.nsid = drive.nsid;
      submission.bytes = static_cast<uint64_t>(request.blocks) << drive.block_shift;
      // Warps are spread over the queues, also if a block has fewer threads than a warp.
      const uint32_t warps = (Team::threads() + Team::kLanes - 1) / Team::kLanes;
      const uint32_t warp = Team::block() * warps + Team::thread() / Team::kLanes;
      queue_index = drive.first_queue + warp % drive.queue_count;
    }
    uint64_t give_up_ns = 0;
    for (uint32_t polls = 0; Team::ballot(mask, wants) != 0; polls++) {
      if (polls > 0) Port::relax(polls);
      const uint64_t now_ns = Team::shuffle(mask, Port::now_ns(), gpunvme::lowest_bit(mask));
      if (polls == 0) give_up_ns = now_ns + timeout_ns;
      by_queue(mask, queue_index, [&](gnv_queue& queue, const gpunvme::Lanes<Team>& lanes) {
        gpunvme::submit_round<Team, Port>(queue, lanes, submission, wants, flight, now_ns + timeout_ns,
                                          now_ns >= give_up_ns);
      });
    }
    return {queue_index, flight.outcome};
  }

  // Calls `act` for each queue among the lanes of `mask`, with the lanes of this queue.
  template <class Act>
  GPUNVME_DEVICE void by_queue(uint32_t mask, uint32_t queue, const Act& act) const {
    for (uint32_t left = mask; left != 0;) {
      const uint32_t now = Team::shuffle(mask, queue, gpunvme::lowest_bit(left));
      const uint32_t same = Team::ballot(mask, queue == now);
      if (queue == now) act(queues[now], gpunvme::Lanes<Team>::of(same));
      left &= ~same;
    }
  }
};

#if defined(__CUDACC__)
using Device = BasicDevice<gpunvme::GpuTeam, gpunvme::GpuPort>;
#endif

}  // namespace gnv
