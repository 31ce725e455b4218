// Mappings of truncated files, which threads concurrently map, access and unmap; faults that the handler must pass on;
// and huge pages, if available. The first argument is the seed, the second the number of rounds.
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <thread>
#include <vector>

#include "foreign.h"
#include "region.h"

#define REQUIRE(condition)                                  \
  do {                                                      \
    if (condition) break;                                   \
    fprintf(stderr, "line %d: %s\n", __LINE__, #condition); \
    exit(1);                                                \
  } while (false)

namespace {

using namespace gpunvme;

constexpr size_t kPage = 4096;
constexpr size_t kPages = 8;
constexpr size_t kHugePage = 2 * 1024 * 1024;
// MFD_HUGE_2MB of linux/memfd.h, which conflicts with glibc's header.
constexpr unsigned kHuge2MiB = 21u << 26;

thread_local sigjmp_buf back;
std::atomic<int> passed_on{0};

// The handler that was installed earlier. Returns to the function that tried the access.
void Before(int, siginfo_t*, void*) {
  passed_on++;
  siglongjmp(back, 1);
}

int File(size_t pages) {
  const int fd = memfd_create("foreign", MFD_CLOEXEC);
  REQUIRE(fd >= 0);
  std::vector<uint8_t> content(pages * kPage);
  for (size_t i = 0; i < content.size(); i++) content[i] = static_cast<uint8_t>(i / kPage + 1);
  REQUIRE(write(fd, content.data(), content.size()) == static_cast<ssize_t>(content.size()));
  return fd;
}

void Cut(int fd, size_t length) {
  REQUIRE(ftruncate(fd, static_cast<off_t>(length)) == 0);
}

// A guarded mapping between two other pages.
struct Between {
  explicit Between(int fd) {
    const size_t length = (kPages + 2) * kPage;
    outer = static_cast<uint8_t*>(mmap(nullptr, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    REQUIRE(outer != MAP_FAILED);
    std::memset(outer, 0xa5, length);
    void* const inner = outer + kPage;
    REQUIRE(mmap(inner, kPages * kPage, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0) == inner);
    Foreign* guard = GuardForeign(inner, kPages * kPage, kPage);
    region = AddRegion(inner, kPages * kPage, kPages * kPage, true, false, guard);
  }
  ~Between() {
    for (const size_t i : {size_t{0}, kPage - 1, (kPages + 1) * kPage, (kPages + 2) * kPage - 1}) {
      REQUIRE(outer[i] == 0xa5);
    }
    ReleaseRegion(region);
    munmap(outer, kPage);
    munmap(outer + (kPages + 1) * kPage, kPage);
  }
  uint8_t* outer;
  Region* region;
};

void Alone(unsigned seed, int rounds) {
  std::mt19937 random(seed);
  for (int round = 0; round < rounds; round++) {
    const int fd = File(kPages);
    Between mapping(fd);
    volatile uint8_t* bytes = mapping.region->base;
    const size_t left = random() % (kPages + 1);
    REQUIRE(bytes[kPage] == 2);
    Cut(fd, left * kPage);
    for (int access = 0; access < 12; access++) {
      const size_t page = random() % kPages;
      const size_t at = page * kPage + 8 + random() % (kPage - 8);
      errno = 4321;
      // Only the first 8 bytes of a page are written. The other bytes are unchanged.
      if (random() % 2 == 0) bytes[page * kPage] = 0x77;
      REQUIRE(bytes[at] == (page < left ? page + 1 : 0));
      REQUIRE(errno == 4321);
    }
    close(fd);
  }
}

// All threads access the pages of one truncated mapping in the same order.
void Together(int rounds) {
  for (int round = 0; round < rounds; round++) {
    const int fd = File(kPages);
    Between mapping(fd);
    Cut(fd, 0);
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; i++) {
      threads.emplace_back([&mapping] {
        for (size_t page = 0; page < kPages; page++) {
          REQUIRE(__atomic_load_n(mapping.region->base + page * kPage, __ATOMIC_RELAXED) == 0);
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    close(fd);
  }
}

// Returns whether a read at this address invokes the earlier handler.
bool IsPassedOn(const volatile uint8_t* at) {
  const int before = passed_on;
  if (sigsetjmp(back, 1) == 0) (void)*at;
  return passed_on != before;
}

void Others() {
  const int fd = File(kPages);
  auto* own = static_cast<uint8_t*>(mmap(nullptr, kPages * kPage, PROT_READ, MAP_SHARED, fd, 0));
  uint8_t* place;
  {
    Between mapping(fd);
    place = mapping.region->base;
    Cut(fd, kPage);
    REQUIRE(!IsPassedOn(place + kPage));
    REQUIRE(IsPassedOn(own + kPage));
    REQUIRE(!IsPassedOn(own));
  }
  // After the mapping has ended, faults at its address are passed on.
  REQUIRE(mmap(place, kPages * kPage, PROT_READ, MAP_SHARED | MAP_FIXED, fd, 0) == place);
  REQUIRE(IsPassedOn(place + kPage));
  munmap(place, kPages * kPage);
  munmap(own, kPages * kPage);
  close(fd);
}

// Two huge pages. Truncation loses the whole second page, and nothing else.
bool Huge() {
  const int fd = memfd_create("huge", MFD_CLOEXEC | MFD_HUGETLB | kHuge2MiB);
  if (fd < 0) return false;
  Cut(fd, 2 * kHugePage);
  void* base = mmap(nullptr, 2 * kHugePage, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (base == MAP_FAILED) return false;
  Region* region =
      AddRegion(base, 2 * kHugePage, 2 * kHugePage, true, false, GuardForeign(base, 2 * kHugePage, kHugePage));
  volatile uint8_t* bytes = region->base;
  bytes[0] = 1;
  bytes[kHugePage] = 2;
  Cut(fd, kHugePage);
  REQUIRE(bytes[2 * kHugePage - 1] == 0);
  REQUIRE(bytes[kHugePage] == 0);
  bytes[kHugePage + kPage] = 3;
  REQUIRE(bytes[kHugePage + kPage] == 3);
  REQUIRE(bytes[0] == 1);
  Cut(fd, 0);
  REQUIRE(bytes[0] == 0);
  ReleaseRegion(region);
  close(fd);
  return true;
}

}  // namespace

int main(int, char** arguments) {
  const unsigned seed = static_cast<unsigned>(std::atoi(arguments[1]));
  const int rounds = std::atoi(arguments[2]);
  struct sigaction action {};
  action.sa_sigaction = Before;
  action.sa_flags = SA_SIGINFO;
  REQUIRE(sigaction(SIGBUS, &action, nullptr) == 0);
  Others();
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < 3; i++) threads.emplace_back(Alone, seed * 16 + i, rounds);
  Together(rounds / 4);
  for (std::thread& thread : threads) thread.join();
  Others();
  std::printf("%s\n", Huge() ? "with huge pages" : "without huge pages");
  return 0;
}
