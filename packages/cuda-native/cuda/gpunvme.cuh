// Storage for CUDA authors: any thread of any kernel reads and writes blocks of NVMe drives, without the host.
//
//   __global__ void first_blocks(gnv::Device device, gnv::Buffer buffer) {
//     const uint64_t thread = blockIdx.x * blockDim.x + threadIdx.x;
//     const gnv::Ticket ticket = device.read(0, thread, 1, buffer, thread * 512);
//     if (!device.wait(ticket).ok()) return;
//     ... the 512 bytes at `thread * 512` of the buffer
//   }
//
// The process that owns the controllers makes the device and the buffer (gpunvme_device.h has their layout) and passes
// them to kernels by value. Any number of threads may submit to a drive at once. Compiles for compute capability 7.5 and up
// with C++17; threads need the independent scheduling of these GPUs.
//
// - Every submission has exactly one outcome, and every wait ends: by a completion, or at the device's time limit, after
//   which the queue is halted until the host has reset the controller.
// - A ticket occupies one of the queue's slots until it has been waited for, once, by any thread. Threads that submit
//   several commands before they wait need as many slots; otherwise their next one ends with GNV_BUSY.
// - After a successful outcome, the data of a read are visible to the threads that waited. Stores of the calling thread before
//   a write are visible to the drive.
// - The buffer of a command with GNV_TIMEOUT or GNV_LOST may still be accessed by the drive until the host has reset it.
// - A thread whose block waits at a barrier for a command's data must not be needed to complete that command: call `wait`
//   before the barrier.
//
// Lanes of a warp that call a function together pass their common mask; then one of them does for all what needs to be done
// once, and one PCIe round trip serves up to 32 completions. By default, a thread acts alone.
#pragma once

#include "gpunvme_device.h"
#include "shared_queue.cuh"
#if defined(__CUDACC__)
#include "gpu_port.cuh"
#include "gpu_team.cuh"
#endif

namespace gnv {

using Buffer = ::gnv_buffer;

// Ending of a command.
class Outcome {
 public:
  explicit GPUNVME_DEVICE Outcome(uint64_t word) : word_(word) {}
  GPUNVME_DEVICE bool ok() const { return ending() == GNV_SUCCESS; }
  GPUNVME_DEVICE gnv_ending ending() const { return static_cast<gnv_ending>(word_ >> GNV_ENDING_SHIFT & 0xff); }
  // With GNV_STATUS: the Status field without the Phase Tag (Base 2.1 §4.2.3).
  GPUNVME_DEVICE uint32_t status() const { return word_ & 0x7fff; }
  // With GNV_INVALID.
  GPUNVME_DEVICE gnv_reason reason() const { return static_cast<gnv_reason>(word_ & 0xffff); }

 private:
  uint64_t word_;
};

// A submission, to be waited for once.
struct Ticket {
  uint32_t queue;
  // Pending, or the reason why it was not submitted.
  uint64_t outcome;
};

// `Team` and `Port` are how a thread knows its lane and accesses memory: warp.cuh, gpu_port.cuh.
template <class Team, class Port>
struct BasicDevice : ::gnv_device {
  static GPUNVME_DEVICE uint32_t alone() { return 1u << Team::lane(); }

  // Reads `blocks` blocks from `slba` on to byte `offset` of the buffer.
  GPUNVME_DEVICE Ticket read(uint32_t drive, uint64_t slba, uint32_t blocks, const Buffer& to, uint64_t offset,
                             uint32_t mask = alone()) const {
    return submit({drive, GPUNVME_NVM_OPCODE_READ, slba, blocks, &to, offset}, mask);
  }

  // Writes `blocks` blocks from byte `offset` of the buffer to `slba` and up.
  GPUNVME_DEVICE Ticket write(uint32_t drive, uint64_t slba, uint32_t blocks, const Buffer& from, uint64_t offset,
                              uint32_t mask = alone()) const {
    return submit({drive, GPUNVME_NVM_OPCODE_WRITE, slba, blocks, &from, offset}, mask);
  }

  // Makes all completed writes to the drive durable.
  GPUNVME_DEVICE Ticket flush(uint32_t drive, uint32_t mask = alone()) const {
    return submit({drive, GPUNVME_NVM_OPCODE_FLUSH, 0, 0, nullptr, 0}, mask);
  }

  // Waits for the command of a ticket.
  GPUNVME_DEVICE Outcome wait(const Ticket& ticket, uint32_t mask = alone()) const {
    uint64_t outcome = ticket.outcome;
    const bool waits = outcome >> GNV_ENDING_SHIFT == 0;
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
    gpunvme::Submission submission = {request.opcode, 0, request.slba, request.blocks, 0, request.buffer, request.offset};
    Ticket ticket = {0, gpunvme::refusal(GNV_INVALID, problem)};
    if (problem == 0) {
      const gnv_drive& drive = drives[request.drive];
      submission.nsid = drive.nsid;
      submission.bytes = static_cast<uint64_t>(request.blocks) << drive.block_shift;
      // Warps are spread over the queues, also if a block has fewer threads than a warp.
      const uint32_t warps = (Team::threads() + Team::kLanes - 1) / Team::kLanes;
      const uint32_t warp = Team::block() * warps + Team::thread() / Team::kLanes;
      ticket.queue = drive.first_queue + warp % drive.queue_count;
    }
    by_queue(mask, ticket.queue, [&](gnv_queue& queue, const gpunvme::Lanes<Team>& lanes) {
      const uint64_t outcome = gpunvme::submit<Team, Port>(queue, lanes, submission, problem == 0, timeout_ns);
      if (problem == 0) ticket.outcome = outcome;
    });
    return ticket;
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
