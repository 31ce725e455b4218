#include "system.h"

#include <fcntl.h>
#include <linux/ioctl.h>
#include <poll.h>
#include <sched.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdint>
#include <cstdio>

#include "environment.h"
#include "values.h"

namespace gpunvme {

namespace {

// A request that takes a pointer uses the number as an address: vm.mmap_min_addr keeps the first 64 KiB unmapped.
constexpr double kMaxNumber = 65535;

bool ReadRequest(napi_env env, napi_value value, unsigned long* request) {
  double number;
  if (!ReadInteger(env, value, "request", 0, UINT32_MAX, &number)) return false;
  *request = static_cast<unsigned long>(number);
  return true;
}

// A copy of a structure, followed by zeroes and then by memory that the kernel cannot write: a request may write more than
// the size in its number, or have no size in it, as TCGETS.
class Structure {
 public:
  Structure(const uint8_t* from, size_t length) : length_(length), mapped_(Whole(length + kSlack)) {
    void* base = mmap(nullptr, mapped_ + Page(), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (base == MAP_FAILED) return;
    base_ = static_cast<uint8_t*>(base);
    if (mprotect(base_, mapped_, PROT_READ | PROT_WRITE) != 0) {
      munmap(base_, mapped_ + Page());
      base_ = nullptr;
      return;
    }
    std::copy(from, from + length, base_);
  }
  ~Structure() {
    if (base_ != nullptr) munmap(base_, mapped_ + Page());
  }
  Structure(const Structure&) = delete;
  Structure& operator=(const Structure&) = delete;

  // nullptr, with errno set, if memory allocation fails.
  uint8_t* base() const { return base_; }
  bool IsOverrun() const {
    return std::any_of(base_ + length_, base_ + mapped_, [](uint8_t byte) { return byte != 0; });
  }

 private:
  // _IOC_SIZE has 14 bits; older requests without it have shorter structures.
  static constexpr size_t kSlack = 16384;
  static size_t Page() { return static_cast<size_t>(sysconf(_SC_PAGESIZE)); }
  static size_t Whole(size_t bytes) { return (bytes + Page() - 1) / Page() * Page(); }

  const size_t length_;
  const size_t mapped_;
  uint8_t* base_ = nullptr;
};

napi_value Returned(napi_env env, int result, const char* syscall) {
  if (result >= 0) return Number(env, result);
  ThrowSystem(env, errno, syscall);
  return nullptr;
}

// Repeats a call that a signal interrupted.
template <typename Call>
auto Uninterrupted(Call call) {
  auto result = call();
  while (result < 0 && errno == EINTR) result = call();
  return result;
}

// Returns whether a read (POLLIN) or a write (POLLOUT) is possible now: 0 or 1, or -1 with errno. Also sets O_NONBLOCK:
// others that share the file may have cleared it and may clear it again, so both are done each time.
int ReadyNow(int fd, short event) {
  pollfd polled{fd, event, 0};
  if (Uninterrupted([&] { return poll(&polled, 1, 0); }) < 0) return -1;
  if ((polled.revents & POLLNVAL) != 0) {
    errno = EBADF;
    return -1;
  }
  if ((polled.revents & event) == 0) return 0;
  const int flags = fcntl(fd, F_GETFL);
  if (flags < 0) return -1;
  if ((flags & O_NONBLOCK) == 0 && fcntl(fd, F_SETFL, flags | O_NONBLOCK) < 0) return -1;
  return 1;
}

// Reads 8 bytes. Returns -1 with errno on failure, EAGAIN if there are none.
ssize_t ReadCount(int fd) {
  uint64_t count;
  iovec part{&count, sizeof count};
  const ssize_t taken = Uninterrupted([&] { return preadv2(fd, &part, 1, -1, RWF_NOWAIT); });
  if (taken >= 0 || errno != EOPNOTSUPP) return taken;
  // Before Linux 5.8, eventfds do not support RWF_NOWAIT.
  const int ready = ReadyNow(fd, POLLIN);
  if (ready == 0) errno = EAGAIN;
  return ready <= 0 ? -1 : Uninterrupted([&] { return read(fd, &count, sizeof count); });
}

}  // namespace

napi_value Yield(napi_env, napi_callback_info) {
  sched_yield();
  return nullptr;
}

napi_value Ioctl(napi_env env, napi_callback_info info) {
  napi_value arguments[3];
  Arguments(env, info, arguments);
  int fd;
  unsigned long request;
  if (!ReadDescriptor(env, arguments[0], &fd) || !ReadRequest(env, arguments[1], &request)) return nullptr;
  napi_typedarray_type type;
  size_t length = 0;
  void* data = nullptr;
  const napi_status status =
      napi_get_typedarray_info(env, arguments[2], &type, &length, &data, nullptr, nullptr);
  if (status != napi_ok || type != napi_uint8_array) {
    ThrowType(env, "argument", "a Uint8Array", arguments[2]);
    return nullptr;
  }
  // The request contains the size of its structure. The kernel would write beyond a shorter one.
  const size_t size = _IOC_DIR(request) == _IOC_NONE ? 0 : _IOC_SIZE(request);
  if (length < size) {
    char expected[96];
    std::snprintf(expected, sizeof expected, "at least %zu bytes, the size in request 0x%lx", size, request);
    ThrowRange(env, "argument", expected, Number(env, static_cast<double>(length)));
    return nullptr;
  }
  auto* bytes = static_cast<uint8_t*>(data);
  const Structure structure(bytes, length);
  if (structure.base() == nullptr) return Returned(env, -1, "mmap");
  const int result = ioctl(fd, request, structure.base());
  const int error = errno;
  std::copy(structure.base(), structure.base() + length, bytes);
  if (structure.IsOverrun()) {
    char expected[96];
    std::snprintf(expected, sizeof expected, "the whole structure that request 0x%lx writes", request);
    ThrowRange(env, "argument", expected, Number(env, static_cast<double>(length)));
    return nullptr;
  }
  errno = error;
  return Returned(env, result, "ioctl");
}

napi_value IoctlNumber(napi_env env, napi_callback_info info) {
  napi_value arguments[3];
  Arguments(env, info, arguments);
  int fd;
  unsigned long request;
  double number;
  if (!ReadDescriptor(env, arguments[0], &fd) || !ReadRequest(env, arguments[1], &request)) return nullptr;
  if (!ReadInteger(env, arguments[2], "argument", INT32_MIN, kMaxNumber, &number)) return nullptr;
  return Returned(env, ioctl(fd, request, static_cast<long>(number)), "ioctl");
}

napi_value Eventfd(napi_env env, napi_callback_info) {
  return Returned(env, eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC), "eventfd");
}

napi_value SignalEventfd(napi_env env, napi_callback_info info) {
  napi_value arguments[1];
  Arguments(env, info, arguments);
  int fd;
  if (!ReadDescriptor(env, arguments[0], &fd)) return nullptr;
  const int ready = ReadyNow(fd, POLLOUT);
  if (ready < 0) ThrowSystem(env, errno, "poll");
  if (ready <= 0) return nullptr;
  const uint64_t one = 1;
  const ssize_t written = Uninterrupted([&] { return write(fd, &one, sizeof one); });
  if (written < 0 && errno != EAGAIN) ThrowSystem(env, errno, "write");
  return nullptr;
}

napi_value DrainEventfd(napi_env env, napi_callback_info info) {
  napi_value arguments[1];
  Arguments(env, info, arguments);
  int fd;
  if (!ReadDescriptor(env, arguments[0], &fd)) return nullptr;
  const ssize_t taken = ReadCount(fd);
  if (taken < 0 && errno != EAGAIN) {
    ThrowSystem(env, errno, "read");
    return nullptr;
  }
  napi_value result;
  napi_get_boolean(env, taken > 0, &result);
  return result;
}

napi_value Move(napi_env env, napi_callback_info info) {
  napi_value arguments[2];
  Arguments(env, info, arguments);
  int from, to;
  if (!ReadDescriptor(env, arguments[0], &from) || !ReadDescriptor(env, arguments[1], &to)) return nullptr;
  const int result = dup3(from, to, O_CLOEXEC);
  if (result >= 0) close(from);
  return Returned(env, result, "dup3");
}

napi_value WaitReadable(napi_env env, napi_callback_info info) {
  napi_value arguments[2];
  Arguments(env, info, arguments);
  int fd;
  double timeoutNs;
  if (!ReadDescriptor(env, arguments[0], &fd) || !ReadTimeout(env, arguments[1], &timeoutNs)) return nullptr;
  return EnvironmentOf(env)->waits.Add(env, fd, timeoutNs);
}

napi_value MemlockLimitBytes(napi_env env, napi_callback_info) {
  rlimit limit;
  if (getrlimit(RLIMIT_MEMLOCK, &limit) != 0) return Returned(env, -1, "getrlimit");
  return Number(env, limit.rlim_cur == RLIM_INFINITY ? INFINITY : static_cast<double>(limit.rlim_cur));
}

napi_value PunchHole(napi_env env, napi_callback_info info) {
  napi_value arguments[3];
  Arguments(env, info, arguments);
  int fd;
  double offset, length;
  if (!ReadDescriptor(env, arguments[0], &fd)) return nullptr;
  if (!ReadInteger(env, arguments[1], "offsetBytes", 0, kMaxSafeInteger, &offset)) return nullptr;
  if (!ReadInteger(env, arguments[2], "lengthBytes", 1, kMaxSafeInteger, &length)) return nullptr;
  const int failed = Uninterrupted([&] {
    return fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(offset),
                     static_cast<off_t>(length));
  });
  if (failed < 0 && errno != EOPNOTSUPP && errno != ENOSYS) {
    ThrowSystem(env, errno, "fallocate");
    return nullptr;
  }
  napi_value result;
  napi_get_boolean(env, failed == 0, &result);
  return result;
}

}  // namespace gpunvme
