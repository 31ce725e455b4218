// A controller that does nothing but answer, on a thread of its own: what is left is what its host costs.
#pragma once

#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

namespace gpunvme {

// A queue pair, by addresses of this process.
struct NullQueue {
  uint64_t sq;
  uint64_t cq;
  uint64_t entries;
  uint64_t tail_doorbell;
  uint64_t head_doorbell;
  uint64_t qid;
};

// Every command that a doorbell announces is completed with success; its data is not moved. Completion entries are used
// again when the host has released them, as a controller does.
class NullController {
 public:
  explicit NullController(std::vector<NullQueue> queues);
  ~NullController();

  // Ends the thread; counts are as they are then.
  void Stop();
  uint64_t commands() const { return commands_; }
  uint64_t rings() const { return rings_; }

 private:
  struct Queue : NullQueue {
    uint32_t head = 0;
    uint32_t posted = 0;
    uint32_t rung = 0;
    uint64_t phase = 1;
  };
  void Run();
  bool Serve(Queue& queue);

  std::vector<Queue> queues_;
  uint64_t commands_ = 0;
  uint64_t rings_ = 0;
  std::atomic<bool> stopping_{false};
  std::thread thread_;
};

}  // namespace gpunvme
