#include "sockets.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>

#include "clock.h"
#include "received.h"
#include "values.h"

namespace gpunvme {

namespace {

// Maximum number of descriptors in a message of vfio-user.
constexpr size_t kMostReceived = 16;
// SCM_MAX_FD of include/net/scm.h, the kernel's limit.
constexpr size_t kMostSent = 253;
// One bit each, without the sign bit.
constexpr size_t kMostPolled = 31;
constexpr int kBacklog = 16;

// poll(2) that continues after signals. Returns the number of ready descriptors, 0 at the deadline, or -1 with errno.
int PollUntil(pollfd* polled, size_t count, double untilNs) {
  while (true) {
    // Rounded up to whole nanoseconds, so that it does not end early.
    const double leftNs = std::ceil(std::max(0.0, untilNs - NowNs()));
    timespec timeout;
    timeout.tv_sec = static_cast<time_t>(leftNs / 1e9);
    timeout.tv_nsec = static_cast<long>(leftNs - static_cast<double>(timeout.tv_sec) * 1e9);
    const int ready = ppoll(polled, count, &timeout, nullptr);
    if (ready >= 0 || errno != EINTR) return ready;
  }
}

template <typename Element>
bool ReadArray(napi_env env, napi_value value, napi_typedarray_type wanted, const char* name, const char* expected,
               Element** elements, size_t* length) {
  napi_typedarray_type type;
  void* data = nullptr;
  if (napi_get_typedarray_info(env, value, &type, length, &data, nullptr, nullptr) != napi_ok || type != wanted) {
    ThrowType(env, name, expected, value);
    return false;
  }
  *elements = static_cast<Element*>(data);
  return true;
}

// Requires at least one byte: on a stream, sending or reading none has no meaning.
bool ReadBytes(napi_env env, napi_value value, const char* name, uint8_t** bytes, size_t* length) {
  if (!ReadArray(env, value, napi_uint8_array, name, "a Uint8Array", bytes, length)) return false;
  if (*length == 0) ThrowRange(env, name, "at least 1 byte", Number(env, 0));
  return *length > 0;
}

bool ReadDescriptors(napi_env env, napi_value value, size_t least, size_t most, int32_t** fds, size_t* count) {
  if (!ReadArray(env, value, napi_int32_array, "descriptors", "an Int32Array", fds, count)) return false;
  if (*count >= least && *count <= most) return true;
  char expected[64];
  if (least == 0) {
    std::snprintf(expected, sizeof expected, "at most %zu elements", most);
  } else {
    std::snprintf(expected, sizeof expected, "at least %zu element", least);
  }
  ThrowRange(env, "descriptors", expected, Number(env, static_cast<double>(*count)));
  return false;
}

// Converts a path to an address with a terminating zero, which other programs require. An empty path, or one that
// starts with a zero, would name no file.
bool ReadAddress(napi_env env, napi_value value, sockaddr_un* address) {
  size_t length = 0;
  if (napi_get_value_string_utf8(env, value, nullptr, 0, &length) != napi_ok) {
    ThrowType(env, "path", "a string", value);
    return false;
  }
  constexpr size_t most = sizeof address->sun_path - 1;
  if (length < 1 || length > most) {
    char expected[64];
    std::snprintf(expected, sizeof expected, "1 to %zu bytes in UTF-8, the limit of the kernel", most);
    ThrowRange(env, "path", expected, Number(env, static_cast<double>(length)));
    return false;
  }
  *address = {};
  address->sun_family = AF_UNIX;
  napi_get_value_string_utf8(env, value, address->sun_path, sizeof address->sun_path, &length);
  if (std::strlen(address->sun_path) == length) return true;
  ThrowRange(env, "path", "no zero byte", value);
  return false;
}

const sockaddr* AnyAddress(const sockaddr_un& address) {
  return reinterpret_cast<const sockaddr*>(&address);
}

int NewSocket() {
  return socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
}

// Throws the error of errno and closes `fd`.
napi_value Fail(napi_env env, int fd, const char* syscall) {
  ThrowSystem(env, errno, syscall);
  if (fd >= 0) close(fd);
  return nullptr;
}

// Moves the descriptors of a message to `into` and returns their number. Closes those that do not fit.
size_t TakeDescriptors(msghdr* message, int32_t* into, size_t room) {
  size_t taken = 0;
  for (cmsghdr* part = CMSG_FIRSTHDR(message); part != nullptr; part = CMSG_NXTHDR(message, part)) {
    if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS) continue;
    const size_t count = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (size_t i = 0; i < count; i++) {
      int fd;
      std::memcpy(&fd, CMSG_DATA(part) + i * sizeof fd, sizeof fd);
      if (taken < room) {
        into[taken++] = fd;
      } else {
        CloseReceived(fd);
      }
    }
  }
  return taken;
}

// Sends the remaining bytes without waiting. Descriptors are sent with the first accepted byte.
ssize_t SendSome(int socket, const uint8_t* bytes, size_t length, const int32_t* fds, size_t count) {
  iovec part{const_cast<uint8_t*>(bytes), length};
  alignas(cmsghdr) char control[CMSG_SPACE(kMostSent * sizeof(int))];
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  if (count > 0) {
    const size_t size = count * sizeof(int);
    std::memset(control, 0, CMSG_SPACE(size));
    message.msg_control = control;
    message.msg_controllen = CMSG_SPACE(size);
    cmsghdr* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(size);
    std::memcpy(CMSG_DATA(header), fds, size);
  }
  return sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
}

}  // namespace

napi_value Listen(napi_env env, napi_callback_info info) {
  napi_value arguments[1];
  Arguments(env, info, arguments);
  sockaddr_un address;
  if (!ReadAddress(env, arguments[0], &address)) return nullptr;
  const int fd = NewSocket();
  if (fd < 0) return Fail(env, fd, "socket");
  // bind creates the file with the socket's mode. So it is never accessible to others, and the umask, which all threads
  // share, is not changed.
  if (fchmod(fd, S_IRUSR | S_IWUSR) != 0) return Fail(env, fd, "fchmod");
  if (bind(fd, AnyAddress(address), sizeof address) != 0) return Fail(env, fd, "bind");
  if (listen(fd, kBacklog) != 0) {
    const int error = errno;
    unlink(address.sun_path);
    errno = error;
    return Fail(env, fd, "listen");
  }
  return Number(env, fd);
}

napi_value Accept(napi_env env, napi_callback_info info) {
  napi_value arguments[1];
  Arguments(env, info, arguments);
  int listener;
  if (!ReadDescriptor(env, arguments[0], &listener, "listener")) return nullptr;
  int fd;
  do {
    fd = accept4(listener, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
  } while (fd < 0 && errno == EINTR);
  if (fd < 0 && errno != EAGAIN) return Fail(env, fd, "accept");
  return Number(env, fd);
}

napi_value Connect(napi_env env, napi_callback_info info) {
  napi_value arguments[1];
  Arguments(env, info, arguments);
  sockaddr_un address;
  if (!ReadAddress(env, arguments[0], &address)) return nullptr;
  const int fd = NewSocket();
  if (fd < 0) return Fail(env, fd, "socket");
  if (connect(fd, AnyAddress(address), sizeof address) != 0) return Fail(env, fd, "connect");
  return Number(env, fd);
}

napi_value Receive(napi_env env, napi_callback_info info) {
  napi_value arguments[3];
  Arguments(env, info, arguments);
  int socket;
  uint8_t* into;
  int32_t* fds;
  size_t length, room;
  if (!ReadDescriptor(env, arguments[0], &socket, "socket")) return nullptr;
  if (!ReadBytes(env, arguments[1], "into", &into, &length)) return nullptr;
  if (!ReadDescriptors(env, arguments[2], 1, SIZE_MAX, &fds, &room)) return nullptr;
  // The first element is the count.
  room = std::min(room - 1, kMostReceived);
  fds[0] = 0;
  iovec part{into, length};
  alignas(cmsghdr) char control[CMSG_SPACE(kMostReceived * sizeof(int))];
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  // Exact, since the kernel would fill alignment padding too.
  message.msg_controllen = CMSG_LEN(room * sizeof(int));
  ssize_t received;
  do {
    received = recvmsg(socket, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  } while (received < 0 && errno == EINTR);
  if (received < 0) {
    if (errno == EAGAIN) return Number(env, -1);
    // The other end has closed with unread data.
    if (errno == ECONNRESET) return Number(env, 0);
    return Fail(env, -1, "recvmsg");
  }
  const size_t taken = TakeDescriptors(&message, fds + 1, room);
  if ((message.msg_flags & MSG_CTRUNC) != 0) {
    for (size_t i = 1; i <= taken; i++) CloseReceived(fds[i]);
    // If there was room for more, the process has reached its limit of open files.
    errno = taken < room ? EMFILE : EMSGSIZE;
    return Fail(env, -1, "recvmsg");
  }
  fds[0] = static_cast<int32_t>(taken);
  return Number(env, static_cast<double>(received));
}

napi_value Send(napi_env env, napi_callback_info info) {
  napi_value arguments[4];
  Arguments(env, info, arguments);
  int socket;
  uint8_t* bytes;
  int32_t* fds = nullptr;
  size_t length, count = 0;
  double timeoutNs;
  napi_valuetype type;
  napi_typeof(env, arguments[2], &type);
  if (!ReadDescriptor(env, arguments[0], &socket, "socket")) return nullptr;
  if (!ReadBytes(env, arguments[1], "bytes", &bytes, &length)) return nullptr;
  if (type != napi_undefined && !ReadDescriptors(env, arguments[2], 0, kMostSent, &fds, &count)) return nullptr;
  if (!ReadTimeout(env, arguments[3], &timeoutNs)) return nullptr;
  while (length > 0) {
    const ssize_t sent = SendSome(socket, bytes, length, fds, count);
    if (sent >= 0) {
      bytes += sent;
      length -= static_cast<size_t>(sent);
      count = 0;
      continue;
    }
    if (errno == EINTR) continue;
    if (errno != EAGAIN) return Fail(env, -1, "sendmsg");
    pollfd polled{socket, POLLOUT, 0};
    const int ready = PollUntil(&polled, 1, NowNs() + timeoutNs);
    if (ready > 0) continue;
    if (ready == 0) errno = ETIMEDOUT;
    return Fail(env, -1, ready == 0 ? "sendmsg" : "poll");
  }
  return nullptr;
}

napi_value Poll(napi_env env, napi_callback_info info) {
  napi_value arguments[2];
  Arguments(env, info, arguments);
  int32_t* fds;
  size_t count;
  double timeoutNs;
  if (!ReadDescriptors(env, arguments[0], 0, kMostPolled, &fds, &count)) return nullptr;
  if (!ReadTimeout(env, arguments[1], &timeoutNs)) return nullptr;
  pollfd polled[kMostPolled];
  for (size_t i = 0; i < count; i++) polled[i] = {fds[i], POLLIN, 0};
  if (PollUntil(polled, count, NowNs() + timeoutNs) < 0) return Fail(env, -1, "poll");
  uint32_t ready = 0;
  for (size_t i = 0; i < count; i++) {
    if ((polled[i].revents & POLLNVAL) != 0) {
      errno = EBADF;
      return Fail(env, -1, "poll");
    }
    if (polled[i].revents != 0) ready |= 1u << i;
  }
  return Number(env, ready);
}

}  // namespace gpunvme
