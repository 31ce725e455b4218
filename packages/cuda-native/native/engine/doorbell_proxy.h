// A thread that forwards doorbells to a controller's registers: leaders on a GPU that cannot write these ring words in
// shared memory instead.
#pragma once

#include <pthread.h>

#include <cstdint>
#include <vector>

#include "executor.h"

namespace gpunvme {

class DoorbellProxy {
 public:
  struct Doorbell {
    // The word that leaders ring.
    const uint32_t* word;
    // The controller's doorbell.
    uint32_t* target;
    // Its value.
    uint32_t value;
  };

  ~DoorbellProxy() { Stop(false); }

  // Forwards until Stop. The leader of a queue rings its completion queue's head before its tail, and they arrive in this
  // order.
  Problem Start(std::vector<Doorbell> tails, std::vector<Doorbell> heads);
  // Ends the thread. With `forward`, what was rung before has arrived; otherwise nothing more is written.
  void Stop(bool forward);

 private:
  void Run();
  // Returns whether one of them was rung.
  bool Forward();

  std::vector<Doorbell> tails_, heads_;
  // Values of the tails in one pass.
  std::vector<uint32_t> seen_;
  bool ending_ = false;
  bool started_ = false;
  pthread_t thread_{};
};

}  // namespace gpunvme
