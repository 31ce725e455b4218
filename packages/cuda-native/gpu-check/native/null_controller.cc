#include "null_controller.h"

#include <sched.h>

namespace gpunvme {

namespace {

template <class T>
T* At(uint64_t address) {
  return reinterpret_cast<T*>(static_cast<uintptr_t>(address));
}

uint32_t Next(uint32_t index, uint64_t entries) { return index + 1 == entries ? 0 : index + 1; }

}  // namespace

NullController::NullController(std::vector<NullQueue> queues) {
  for (const NullQueue& queue : queues) {
    Queue made;
    static_cast<NullQueue&>(made) = queue;
    queues_.push_back(made);
  }
  thread_ = std::thread([this] { Run(); });
}

NullController::~NullController() { Stop(); }

void NullController::Stop() {
  stopping_.store(true, std::memory_order_relaxed);
  if (thread_.joinable()) thread_.join();
}

void NullController::Run() {
  for (uint32_t idle = 0; !stopping_.load(std::memory_order_relaxed);) {
    bool busy = false;
    for (Queue& queue : queues_) busy |= Serve(queue);
    idle = busy ? 0 : idle + 1;
    // Its host may be a thread of the same core.
    if (idle % 1024 == 1023) sched_yield();
    else if (idle > 0) __builtin_ia32_pause();
  }
}

bool NullController::Serve(Queue& queue) {
  const uint32_t tail = __atomic_load_n(At<uint32_t>(queue.tail_doorbell), __ATOMIC_ACQUIRE);
  if (tail == queue.head || tail >= queue.entries) return false;
  if (tail != queue.rung) rings_++;
  queue.rung = tail;
  bool busy = false;
  while (queue.head != tail) {
    // One entry fewer than there are: a full queue is one whose tail is before its head.
    const uint32_t released = __atomic_load_n(At<uint32_t>(queue.head_doorbell), __ATOMIC_ACQUIRE);
    const uint32_t next = Next(queue.posted, queue.entries);
    if (next == released) break;
    const uint64_t cid = At<uint32_t>(queue.sq)[16ULL * queue.head] >> 16;
    queue.head = Next(queue.head, queue.entries);
    uint64_t* entry = At<uint64_t>(queue.cq) + 2ULL * queue.posted;
    entry[0] = 0;
    const uint64_t dw2_3 = queue.phase << 48 | cid << 32 | queue.qid << 16 | queue.head;
    __atomic_store_n(&entry[1], dw2_3, __ATOMIC_RELEASE);
    queue.posted = next;
    if (next == 0) queue.phase ^= 1;
    commands_++;
    busy = true;
  }
  return busy;
}

}  // namespace gpunvme
