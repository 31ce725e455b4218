#pragma once

#include <pthread.h>
#include <signal.h>

namespace gpunvme {

// Starts a thread that runs `run(self)` and receives no signals: these are left to the program's threads. Returns 0, or
// the error number.
inline int StartThread(pthread_t* thread, const char* name, void* (*run)(void*), void* self) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  const int error = pthread_create(thread, nullptr, run, self);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (error == 0) pthread_setname_np(*thread, name);
  return error;
}

}  // namespace gpunvme
