#include "foreign.h"

#include <signal.h>
#include <sys/mman.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <mutex>

namespace gpunvme {

// An entry of the table. The handler reads entries while other threads change them. The mapping of the faulting access
// is not changed meanwhile: it stays until the access has happened.
struct Foreign {
  // Odd while the entry is being changed.
  std::atomic<uint32_t> version{0};
  std::atomic<uintptr_t> base{0};
  // 0 if the entry is free.
  std::atomic<size_t> length{0};
  std::atomic<size_t> page{0};
  std::atomic<uint32_t> replaced{0};
  Foreign* next = nullptr;
};

namespace {

static_assert(std::atomic<uintptr_t>::is_always_lock_free && std::atomic<uint32_t>::is_always_lock_free &&
                  std::atomic<uint64_t>::is_always_lock_free,
              "a signal handler cannot wait for a lock");

// Each replaced page may split a mapping into three, and the kernel limits a process to 65530 mappings
// (vm.max_map_count). After this many pages of one mapping, the whole rest of it is replaced at once.
constexpr uint32_t kMostSinglePages = 256;

// Serializes changes. Entries are reused and never freed: the handler may be anywhere in the list.
std::mutex changes;
std::atomic<Foreign*> places{nullptr};
std::atomic<uint64_t> lost{0};
// The handler before ours; nullptr until ours is installed. Never freed, since the handler may be reading it.
std::atomic<const struct sigaction*> previous{nullptr};

void Set(Foreign& place, uintptr_t base, size_t length, size_t page) {
  place.version++;
  place.base = base;
  place.length = length;
  place.page = page;
  place.replaced = 0;
  place.version++;
}

// Maps zeroes at `address` if it is in a guarded mapping. Safe in a signal handler, in any number of threads: if two
// threads replace the same page, a store of the first is lost, as all stores to lost pages are.
bool Replace(uintptr_t address) {
  for (Foreign* place = places; place != nullptr; place = place->next) {
    const uint32_t version = place->version;
    const uintptr_t base = place->base;
    const size_t length = place->length;
    const size_t page = place->page;
    if (version % 2 != 0 || place->version != version || address - base >= length) continue;
    const size_t offset = (address - base) / page * page;
    const size_t size = place->replaced++ < kMostSinglePages ? page : length - offset;
    void* const start = reinterpret_cast<void*>(base + offset);
    const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED;
    const bool isReplaced = mmap(start, size, PROT_READ | PROT_WRITE, flags, -1, 0) != MAP_FAILED;
    if (isReplaced) lost += size;
    return isReplaced;
  }
  return false;
}

// Forwards the signal to the previous handler or default action.
void PassOn(int number, siginfo_t* info, void* context) {
  const struct sigaction& before = *previous;
  if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN) {
    if ((before.sa_flags & SA_RESETHAND) != 0) signal(number, SIG_DFL);
    if ((before.sa_flags & SA_SIGINFO) != 0) {
      before.sa_sigaction(number, info, context);
    } else {
      before.sa_handler(number);
    }
    return;
  }
  // The signal was sent, or is of an asynchronous access. A synchronous fault recurs when this returns, and cannot be
  // ignored.
  const bool comesOnce = info->si_code <= 0 || info->si_code == BUS_MCEERR_AO;
  if (comesOnce && before.sa_handler == SIG_IGN) return;
  signal(number, SIG_DFL);
  if (comesOnce) raise(number);
}

void OnBusError(int number, siginfo_t* info, void* context) {
  const int error = errno;
  // Other codes report broken memory, which zeroes would hide.
  const bool isReplaced = info->si_code == BUS_ADRERR && Replace(reinterpret_cast<uintptr_t>(info->si_addr));
  if (!isReplaced) PassOn(number, info, context);
  errno = error;
}

void Install() {
  struct sigaction current;
  sigaction(SIGBUS, nullptr, &current);
  const bool isNobodys = current.sa_handler == SIG_DFL || current.sa_handler == SIG_IGN;
  // Once, and again if it was removed. A handler installed over ours may call ours, which must not call it back.
  if (previous != nullptr && !isNobodys) return;
  previous = new struct sigaction(current);
  struct sigaction ours {};
  ours.sa_sigaction = OnBusError;
  ours.sa_mask = current.sa_mask;
  ours.sa_flags = SA_SIGINFO | SA_ONSTACK | (current.sa_flags & (SA_RESTART | SA_NODEFER));
  sigaction(SIGBUS, &ours, nullptr);
}

}  // namespace

Foreign* GuardForeign(void* base, size_t length, size_t page) {
  const std::lock_guard<std::mutex> lock(changes);
  Install();
  Foreign* place = places;
  while (place != nullptr && place->length != 0) place = place->next;
  if (place == nullptr) {
    place = new Foreign;
    place->next = places;
    places = place;
  }
  Set(*place, reinterpret_cast<uintptr_t>(base), length, page);
  return place;
}

void ForgetForeign(Foreign* foreign) {
  const std::lock_guard<std::mutex> lock(changes);
  Set(*foreign, 0, 0, 0);
}

uint64_t LostForeign() {
  return lost;
}

}  // namespace gpunvme
