#include "received.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "values.h"

#ifndef F_GET_SEALS
#define F_GET_SEALS 1034
#endif

namespace gpunvme {

namespace {

// A memfd, or a file of tmpfs or hugetlbfs: only these have seals (mm/memfd.c). fstatfs(2) would also identify the file
// system, but on a FUSE mount it waits for the daemon.
bool IsMemory(int fd) {
  return fcntl(fd, F_GET_SEALS) >= 0;
}

// An eventfd, for example: a file that the kernel itself implements.
bool IsAnonymousInode(int fd) {
  constexpr char kPrefix[] = "anon_inode:";
  char link[32];
  char target[sizeof kPrefix];
  std::snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  const ssize_t length = readlink(link, target, sizeof target);
  return length >= static_cast<ssize_t>(sizeof kPrefix - 1) && std::memcmp(target, kPrefix, sizeof kPrefix - 1) == 0;
}

bool CanWait(int fd) {
  return !IsMemory(fd) && !IsAnonymousInode(fd);
}

// Creates a process, as fork(2), that shares this process's descriptors and sends no signal on exit.
pid_t ForkSharingDescriptors() {
  return static_cast<pid_t>(syscall(SYS_clone, CLONE_FILES, nullptr, nullptr, nullptr, nullptr));
}

}  // namespace

// A process that shares the descriptors closes it: the kernel frees the number first and then calls the file system. In a
// thread, that call could prevent this process from exiting. The closing process is a grandchild, which init reaps. If the
// process cannot be created, the descriptor stays open.
void CloseReceived(int fd) {
  if (!CanWait(fd)) {
    close(fd);
    return;
  }
  // Blocks signals: a signal handler in the child would write to a pipe that both processes share.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  const pid_t child = ForkSharingDescriptors();
  if (child == 0) {
    if (ForkSharingDescriptors() == 0) close(fd);
    _exit(0);
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  while (child > 0 && waitpid(child, nullptr, __WALL) < 0 && errno == EINTR) continue;
}

napi_value NeverWaits(napi_env env, napi_callback_info info) {
  napi_value arguments[1], result;
  Arguments(env, info, arguments);
  int fd;
  if (!ReadDescriptor(env, arguments[0], &fd)) return nullptr;
  napi_get_boolean(env, !CanWait(fd), &result);
  return result;
}

napi_value CloseReceived(napi_env env, napi_callback_info info) {
  napi_value arguments[1];
  Arguments(env, info, arguments);
  int fd;
  if (ReadDescriptor(env, arguments[0], &fd)) CloseReceived(fd);
  return nullptr;
}

}  // namespace gpunvme
