// A thread that writes doorbells for leaders on a GPU that cannot write the controller's registers: they write to words in
// shared memory, which the thread copies to the registers.
#pragma once

#include <pthread.h>

#include <cstdint>
#include <vector>

#include "executor.h"

namespace gpunvme {

class DoorbellProxy {
 public:
  struct Doorbell {
    // Word that leaders write.
    const uint32_t* word;
    // The controller's doorbell.
    uint32_t* target;
    // Value last written to it.
    uint32_t value;
  };

  ~DoorbellProxy() { Stop(false); }

  // Starts a thread that forwards until Stop. Leaders ring a completion queue's head before a tail; the registers are
  // written in this order.
  Problem Start(std::vector<Doorbell> tails, std::vector<Doorbell> heads);
  // Ends the thread. With `forward`, doorbells rung before the call are then written; otherwise nothing more is written.
  void Stop(bool forward);

 private:
  void Run();
  // Writes changed values. Returns whether there were any.
  bool Forward();

  std::vector<Doorbell> tails_, heads_;
  // Values of the tails, loaded in the current pass.
  std::vector<uint32_t> seen_;
  bool ending_ = false;
  bool started_ = false;
  pthread_t thread_{};
};

}  // namespace gpunvme
