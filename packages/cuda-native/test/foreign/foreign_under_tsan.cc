// native/foreign.cc for ThreadSanitizer, which treats a call of mmap as a store to the whole range, and so as a race with
// threads that access the same page. ThreadSanitizer does not intercept the system call itself.
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static inline void* UnseenMmap(void* at, size_t bytes, int protection, int flags, int fd, off_t offset) {
  return reinterpret_cast<void*>(syscall(SYS_mmap, at, bytes, protection, flags, fd, offset));
}
#define mmap UnseenMmap
#include "foreign.cc"
