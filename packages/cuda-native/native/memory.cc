#include "memory.h"

#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>

#include "environment.h"
#include "foreign.h"
#include "handles.h"
#include "region.h"
#include "values.h"

#ifndef MAP_HUGE_2MB
#define MAP_HUGE_2MB (21 << 26)
#endif
#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

namespace gpunvme {

namespace {

constexpr size_t kHugePage = 2 * 1024 * 1024;

// Target of JavaScript's handle. If the handle is collected, the region stays mapped, since a device may use it.
struct Handle {
  Region* region;  // nullptr after unmap
};

size_t RoundUp(double length, size_t page) {
  const auto bytes = static_cast<size_t>(length);
  return (bytes + page - 1) / page * page;
}

// Returns the page size for mapping a file: that of hugetlbfs, such as a virtual machine's memory, is the huge page
// size.
size_t PageOf(int fd) {
  struct statfs system;
  if (fstatfs(fd, &system) == 0 && system.f_type == HUGETLBFS_MAGIC) return static_cast<size_t>(system.f_bsize);
  return static_cast<size_t>(sysconf(_SC_PAGESIZE));
}

napi_value Own(napi_env env, void* base, size_t length, size_t mapped, bool writable, bool allocated,
               Foreign* foreign) {
  Region* region = AddRegion(base, length, mapped, writable, allocated, foreign);
  EnvironmentOf(env)->owned.insert(region);
  return Handles<Handle>::Create(env, new Handle{region}, [](napi_env, Handle* handle) { delete handle; });
}

Handle* HandleOf(napi_env env, napi_value value) {
  return Handles<Handle>::Of(env, value, "region", "a region's handle");
}

Region* Mapped(napi_env env, napi_value value) {
  const Handle* handle = HandleOf(env, value);
  if (handle != nullptr && handle->region == nullptr) {
    napi_throw_type_error(env, "ERR_GPUNVME_UNMAPPED", "The region was unmapped: map the memory again to use it");
  }
  return handle == nullptr ? nullptr : handle->region;
}

bool CheckWritable(napi_env env, const Region* region, const char* what) {
  if (region->writable) return true;
  char message[128];
  std::snprintf(message, sizeof message, "%s: expected a region mapped 'read-write', got one mapped 'read'", what);
  napi_throw_type_error(env, nullptr, message);
  return false;
}

// A store by JavaScript is unchecked and must not end the process.
bool CheckViewable(napi_env env, const Region* region, const char* what) {
  return region->foreign != nullptr || CheckWritable(env, region, what);
}

// Returns the word at an offset, which must be a multiple of its width and inside the region.
template <typename Word>
volatile Word* WordAt(napi_env env, napi_value handle, napi_value offset, const Region** region) {
  *region = Mapped(env, handle);
  if (*region == nullptr) return nullptr;
  double bytes;
  if (napi_get_value_double(env, offset, &bytes) != napi_ok) {
    ThrowType(env, "offsetBytes", "a number", offset);
    return nullptr;
  }
  // Compared before the conversion, which is undefined for NaN and large values.
  if (bytes >= 0 && bytes + sizeof(Word) <= static_cast<double>((*region)->length)) {
    const auto at = static_cast<size_t>(bytes);
    if (static_cast<double>(at) == bytes && at % sizeof(Word) == 0) {
      return reinterpret_cast<volatile Word*>((*region)->base + at);
    }
  }
  char expected[96];
  const size_t length = (*region)->length;
  if (length < sizeof(Word)) {
    std::snprintf(expected, sizeof expected, "none, as the region has %zu bytes", length);
  } else {
    const size_t last = (length - sizeof(Word)) / sizeof(Word) * sizeof(Word);
    std::snprintf(expected, sizeof expected, "a multiple of %zu from 0 to %zu", sizeof(Word), last);
  }
  ThrowRange(env, "offsetBytes", expected, offset);
  return nullptr;
}

// One access of the word's width, which the compiler must not split, merge or repeat.
template <typename Word>
Word Load(const volatile Word* word) {
  const Word value = *word;
  __atomic_thread_fence(__ATOMIC_ACQUIRE);
  return value;
}

// Orders earlier stores before this one: a doorbell announces entries in memory.
template <typename Word>
void Store(volatile Word* word, Word value) {
  __atomic_thread_fence(__ATOMIC_RELEASE);
  *word = value;
}

napi_value MapFile(napi_env env, napi_callback_info info, bool foreign) {
  napi_value arguments[4];
  Arguments(env, info, arguments);
  int fd;
  double offset, length;
  bool writable;
  if (!ReadDescriptor(env, arguments[0], &fd)) return nullptr;
  if (!ReadInteger(env, arguments[1], "offsetBytes", 0, kMaxSafeInteger, &offset)) return nullptr;
  if (!ReadInteger(env, arguments[2], "lengthBytes", 1, kMaxSafeInteger, &length)) return nullptr;
  if (napi_get_value_bool(env, arguments[3], &writable) != napi_ok) {
    ThrowType(env, "writable", "a boolean", arguments[3]);
    return nullptr;
  }
  const size_t page = PageOf(fd);
  char expected[96];
  if (static_cast<uint64_t>(offset) % page != 0) {
    std::snprintf(expected, sizeof expected, "a multiple of %zu", page);
    ThrowRange(env, "offsetBytes", expected, arguments[1]);
    return nullptr;
  }
  struct stat status;
  if (fstat(fd, &status) != 0) {
    ThrowSystem(env, errno, "fstat");
    return nullptr;
  }
  // An access beyond the end of a file would raise SIGBUS. Devices are not checked here; mmap checks them.
  if (S_ISREG(status.st_mode) && offset + length > static_cast<double>(status.st_size)) {
    std::snprintf(expected, sizeof expected, "no more than the %lld bytes of the file from byte %.0f on",
                  static_cast<long long>(status.st_size), offset);
    ThrowRange(env, "lengthBytes", expected, arguments[2]);
    return nullptr;
  }
  const size_t mapped = RoundUp(length, page);
  const int protection = writable || foreign ? PROT_READ | PROT_WRITE : PROT_READ;
  // For a read-only file with a view for JavaScript, a store goes to a private copy of the page. No memory is reserved
  // for copies.
  const int flags = writable || !foreign ? MAP_SHARED : MAP_PRIVATE | MAP_NORESERVE;
  void* base = mmap(nullptr, mapped, protection, flags, fd, static_cast<off_t>(offset));
  if (base == MAP_FAILED) {
    ThrowSystem(env, errno, "mmap");
    return nullptr;
  }
  Foreign* guard = foreign ? GuardForeign(base, mapped, page) : nullptr;
  return Own(env, base, static_cast<size_t>(length), mapped, writable, false, guard);
}

}  // namespace

napi_value Map(napi_env env, napi_callback_info info) {
  return MapFile(env, info, false);
}

napi_value MapForeign(napi_env env, napi_callback_info info) {
  return MapFile(env, info, true);
}

napi_value LostForeignBytes(napi_env env, napi_callback_info) {
  return Number(env, static_cast<double>(LostForeign()));
}

napi_value Allocate(napi_env env, napi_callback_info info) {
  napi_value arguments[2];
  Arguments(env, info, arguments);
  double length, page;
  if (!ReadInteger(env, arguments[0], "lengthBytes", 1, kMaxSafeInteger, &length)) return nullptr;
  if (napi_get_value_double(env, arguments[1], &page) != napi_ok || (page != 4096 && page != kHugePage)) {
    ThrowRange(env, "pageBytes", "4096 or 2097152", arguments[1]);
    return nullptr;
  }
  const bool huge = page == kHugePage;
  const size_t mapped = RoundUp(length, static_cast<size_t>(page));
  // Shared: after a fork, the first store to a private page would move it, away from the device. The error of
  // MAP_LOCKED identifies RLIMIT_MEMLOCK as the cause; huge pages are always resident.
  const int flags = MAP_SHARED | MAP_ANONYMOUS | (huge ? MAP_HUGETLB | MAP_HUGE_2MB : MAP_LOCKED);
  void* base = mmap(nullptr, mapped, PROT_READ | PROT_WRITE, flags, -1, 0);
  if (base == MAP_FAILED) {
    ThrowSystem(env, errno, "mmap");
    return nullptr;
  }
  // mmap does not report pages that could not be populated; these calls do.
  int failed = huge ? madvise(base, mapped, MADV_POPULATE_WRITE) : mlock(base, mapped);
  const int error = errno;
  if (failed != 0 && huge && error == EINVAL) {
    // Before Linux 5.14: populate by stores. mmap has reserved all huge pages.
    for (size_t at = 0; at < mapped; at += kHugePage) static_cast<volatile uint8_t*>(base)[at] = 0;
    failed = 0;
  }
  if (failed != 0) {
    munmap(base, mapped);
    ThrowSystem(env, error, huge ? "madvise" : "mlock");
    return nullptr;
  }
  // A child process must not inherit it, since it would keep the memory allocated.
  madvise(base, mapped, MADV_DONTFORK);
  return Own(env, base, mapped, mapped, true, true, nullptr);
}

napi_value Unmap(napi_env env, napi_callback_info info) {
  napi_value arguments[1];
  Arguments(env, info, arguments);
  Handle* handle = HandleOf(env, arguments[0]);
  if (handle == nullptr || handle->region == nullptr) return nullptr;
  Region* region = handle->region;
  const auto environment = EnvironmentOf(env);
  handle->region = nullptr;
  environment->owned.erase(region);
  EndRegion(region);
  DetachViews(env, *environment, region);
  ReleaseRegion(region);
  return nullptr;
}

napi_value Address(napi_env env, napi_callback_info info) {
  napi_value arguments[1], result;
  Arguments(env, info, arguments);
  const Region* region = Mapped(env, arguments[0]);
  if (region == nullptr) return nullptr;
  napi_create_bigint_uint64(env, reinterpret_cast<uintptr_t>(region->base), &result);
  return result;
}

napi_value Length(napi_env env, napi_callback_info info) {
  napi_value arguments[1];
  Arguments(env, info, arguments);
  const Region* region = Mapped(env, arguments[0]);
  return region == nullptr ? nullptr : Number(env, static_cast<double>(region->length));
}

napi_value Buffer(napi_env env, napi_callback_info info) {
  napi_value arguments[1];
  Arguments(env, info, arguments);
  Region* region = Mapped(env, arguments[0]);
  if (region == nullptr || !CheckViewable(env, region, "buffer")) return nullptr;
  HoldRegion(region);
  return CreateView(env, region, region->base, region->length);
}

napi_value View(napi_env env, napi_callback_info info) {
  napi_value arguments[2];
  Arguments(env, info, arguments);
  uint64_t address;
  double length;
  if (!ReadBigInt(env, arguments[0], "address", &address)) return nullptr;
  if (!ReadInteger(env, arguments[1], "lengthBytes", 1, kMaxSafeInteger, &length)) return nullptr;
  Region* region = FindRegion(address, static_cast<uint64_t>(length));
  if (region == nullptr) {
    char expected[128];
    std::snprintf(expected, sizeof expected, "the address of %.0f mapped bytes, from map or allocate",
                  length);
    ThrowRange(env, "address", expected, arguments[0]);
    return nullptr;
  }
  if (!CheckViewable(env, region, "view")) {
    ReleaseRegion(region);
    return nullptr;
  }
  return CreateView(env, region, reinterpret_cast<uint8_t*>(static_cast<uintptr_t>(address)),
                    static_cast<size_t>(length));
}

napi_value Load32(napi_env env, napi_callback_info info) {
  napi_value arguments[2], result;
  Arguments(env, info, arguments);
  const Region* region;
  const auto* word = WordAt<uint32_t>(env, arguments[0], arguments[1], &region);
  if (word == nullptr) return nullptr;
  napi_create_uint32(env, Load(word), &result);
  return result;
}

napi_value Store32(napi_env env, napi_callback_info info) {
  napi_value arguments[3];
  Arguments(env, info, arguments);
  const Region* region;
  auto* word = WordAt<uint32_t>(env, arguments[0], arguments[1], &region);
  double value;
  if (word == nullptr || !CheckWritable(env, region, "store32")) return nullptr;
  if (!ReadInteger(env, arguments[2], "value", 0, UINT32_MAX, &value)) return nullptr;
  Store(word, static_cast<uint32_t>(value));
  return nullptr;
}

napi_value Load64(napi_env env, napi_callback_info info) {
  napi_value arguments[2], result;
  Arguments(env, info, arguments);
  const Region* region;
  const auto* word = WordAt<uint64_t>(env, arguments[0], arguments[1], &region);
  if (word == nullptr) return nullptr;
  napi_create_bigint_uint64(env, Load(word), &result);
  return result;
}

napi_value Store64(napi_env env, napi_callback_info info) {
  napi_value arguments[3];
  Arguments(env, info, arguments);
  const Region* region;
  auto* word = WordAt<uint64_t>(env, arguments[0], arguments[1], &region);
  uint64_t value;
  if (word == nullptr || !CheckWritable(env, region, "store64")) return nullptr;
  if (!ReadBigInt(env, arguments[2], "value", &value)) return nullptr;
  Store(word, value);
  return nullptr;
}

}  // namespace gpunvme
