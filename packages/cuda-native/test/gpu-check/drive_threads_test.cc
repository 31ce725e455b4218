// Starts a drive of three threads, of which the third cannot be created. Prints the number of threads that were created and
// the error. The process ends normally only if the drive has joined the other two.
#include "../../gpu-check/native/drive_threads.h"

#include <dlfcn.h>
#include <pthread.h>

#include <cerrno>
#include <cstdio>
#include <system_error>

static int created = 0;

extern "C" int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*run)(void*), void* argument) {
  if (created == 2) return EAGAIN;
  created++;
  using Create = int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
  return reinterpret_cast<Create>(dlsym(RTLD_NEXT, "pthread_create"))(thread, attributes, run, argument);
}

int main() {
  try {
    gpunvme::DriveThreads drive({}, {}, {}, 3);
  } catch (const std::system_error& error) {
    std::printf("%d threads, then %s\n", created, error.code() == std::errc::resource_unavailable_try_again ? "EAGAIN" : "?");
  }
}
