#include "checksum.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <vector>

#include "crc32.h"
#include "region.h"
#include "values.h"

namespace gpunvme {

namespace {

// Bytes that are read at a time, so that their checksums are computed in the cache of the processor. With 256 KiB,
// reading and computing took 1.1 times as long as reading (AVX-512; 1.2 with 4 MiB).
constexpr size_t kCachedBytes = 256 * 1024;

constexpr size_t kHugePage = 2 * 1024 * 1024;

struct Work {
  uint8_t* data;
  size_t bytes;
  // File that the bytes are read from first; -1 if they are there.
  int fd = -1;
  off_t fileOffset = 0;
  int error = 0;
  // Bytes that are there, from the first; checksums are computed of the first `summedBytes` of them, by chunks.
  size_t done = 0;
  size_t summedBytes;
  size_t chunkBytes;
  std::vector<uint32_t> results;
  // Keeps the memory: the mapping that contains it, or a view of a SharedArrayBuffer, which never shrinks.
  Region* region = nullptr;
  napi_ref view = nullptr;
  napi_ref into = nullptr;
  napi_deferred deferred = nullptr;
  napi_async_work handle = nullptr;
};

// Adds the bytes from `done` to `end` to the checksums of their chunks.
void Sum(Work* work, size_t end) {
  const Crc32 crc32 = AllCrc32Ways().ways[0].function;
  const size_t last = std::min(end, work->summedBytes);
  for (size_t at = work->done; at < last;) {
    const size_t chunk = at / work->chunkBytes;
    const size_t to = std::min((chunk + 1) * work->chunkBytes, last);
    work->results[chunk] = crc32(work->results[chunk], work->data + at, to - at);
    at = to;
  }
  work->done = end;
}

// Requests huge pages for the memory of a long read. Where it is new, a fault per small page takes longer than the read.
// Memory that already has small pages took about a fifth more CPU time to read into over the next passes, probably while
// the kernel replaced its pages. A failure is ignored: the kernel may have no huge pages.
void RequestHugePages(const Work& work) {
  // Pages of a region are allocated when it is mapped.
  if (work.region != nullptr || work.bytes < kHugePage) return;
  // From the page of the first byte. A partial last page belongs to the next read.
  const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto begin = reinterpret_cast<uintptr_t>(work.data) & ~(page - 1);
  const auto end = (reinterpret_cast<uintptr_t>(work.data) + work.bytes) & ~(page - 1);
  madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE);
}

// Reads until all bytes are there, the file ends or a read fails.
void ReadAndSum(Work* work) {
  RequestHugePages(*work);
  // Without the page cache, a read is a command to the drive.
  const int flags = fcntl(work->fd, F_GETFL);
  const bool isDirect = flags != -1 && (flags & O_DIRECT) != 0;
  const size_t step = isDirect || work->summedBytes == 0 ? work->bytes : kCachedBytes;
  while (work->done < work->bytes) {
    const size_t wanted = std::min(step, work->bytes - work->done);
    const ssize_t got =
        pread(work->fd, work->data + work->done, wanted, work->fileOffset + static_cast<off_t>(work->done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) work->error = errno;
    if (got <= 0) return;
    Sum(work, work->done + static_cast<size_t>(got));
    // The end of the file. Some file systems refuse a read there, since its offset is not that of a block.
    if (isDirect && (work->fileOffset + static_cast<off_t>(work->done)) % 512 != 0) return;
  }
}

void Execute(Work* work) {
  if (work->fd == -1) Sum(work, work->bytes);
  else ReadAndSum(work);
}

// Returns the elements of a Uint32Array; none if its buffer has been detached.
bool ElementsOf(napi_env env, napi_value value, uint32_t** elements, size_t* count) {
  napi_typedarray_type type;
  void* data = nullptr;
  const napi_status status = napi_get_typedarray_info(env, value, &type, count, &data, nullptr, nullptr);
  *elements = static_cast<uint32_t*>(data);
  return status == napi_ok && type == napi_uint32_array;
}

bool CheckRoom(napi_env env, size_t count, size_t chunks) {
  if (count >= chunks) return true;
  ThrowRange(env, "into", "one element per chunk", Number(env, static_cast<double>(count)));
  return false;
}

// Copies the results to `into`, which JavaScript may have detached in the meantime.
bool Store(napi_env env, const Work& work, napi_value into) {
  uint32_t* elements;
  size_t count;
  ElementsOf(env, into, &elements, &count);
  if (!CheckRoom(env, count, work.results.size())) return false;
  std::copy(work.results.begin(), work.results.end(), elements);
  return true;
}

void Settle(napi_env env, napi_status status, void* data) {
  auto* work = static_cast<Work*>(data);
  napi_value into, result;
  // When the environment ends, the promise is not settled.
  if (status == napi_ok && napi_get_reference_value(env, work->into, &into) == napi_ok && into != nullptr) {
    if (work->error != 0) {
      napi_reject_deferred(env, work->deferred, SystemError(env, work->error, "pread"));
    } else if (Store(env, *work, into)) {
      napi_resolve_deferred(env, work->deferred, Number(env, static_cast<double>(work->done)));
    } else {
      napi_get_and_clear_last_exception(env, &result);
      napi_reject_deferred(env, work->deferred, result);
    }
  }
  napi_delete_reference(env, work->into);
  if (work->view != nullptr) napi_delete_reference(env, work->view);
  if (work->region != nullptr) ReleaseRegion(work->region);
  napi_delete_async_work(env, work->handle);
  delete work;
}

// Reads the arguments (view, offsetBytes, lengthBytes, chunkBytes, summedBytes, into), and returns the work; nullptr with an
// exception pending. `canWait` tells whether the memory can be kept until a promise is settled.
std::unique_ptr<Work> WorkOf(napi_env env, const napi_value (&arguments)[6], bool* canWait) {
  size_t length = 0;
  void* data = nullptr;
  napi_value buffer;
  if (napi_get_dataview_info(env, arguments[0], &length, &data, &buffer, nullptr) != napi_ok) {
    ThrowType(env, "view", "a DataView", arguments[0]);
    return nullptr;
  }
  double offset, bytes, chunkBytes, summedBytes;
  const auto whole = static_cast<double>(length);
  if (!ReadInteger(env, arguments[1], "offsetBytes", 0, whole, &offset)) return nullptr;
  if (!ReadInteger(env, arguments[2], "lengthBytes", 0, whole - offset, &bytes)) return nullptr;
  if (!ReadInteger(env, arguments[3], "chunkBytes", 1, kMaxSafeInteger, &chunkBytes)) return nullptr;
  if (!ReadInteger(env, arguments[4], "summedBytes", 0, bytes, &summedBytes)) return nullptr;
  uint32_t* elements;
  size_t count;
  if (!ElementsOf(env, arguments[5], &elements, &count)) {
    ThrowType(env, "into", "a Uint32Array", arguments[5]);
    return nullptr;
  }
  const auto total = static_cast<size_t>(summedBytes), chunk = static_cast<size_t>(chunkBytes);
  const size_t chunks = total / chunk + (total % chunk == 0 ? 0 : 1);
  if (!CheckRoom(env, count, chunks)) return nullptr;
  auto work = std::make_unique<Work>();
  work->data = static_cast<uint8_t*>(data) + static_cast<size_t>(offset);
  work->bytes = static_cast<size_t>(bytes);
  work->summedBytes = total;
  work->chunkBytes = chunk;
  work->results.resize(chunks);
  if (work->bytes > 0) work->region = FindRegion(reinterpret_cast<uintptr_t>(work->data), work->bytes);
  bool isMovable = false;
  napi_is_arraybuffer(env, buffer, &isMovable);
  *canWait = work->region != nullptr || !isMovable;
  return work;
}

// Executes the work on a thread of libuv, and returns its promise.
napi_value Start(napi_env env, std::unique_ptr<Work> work, napi_value view, napi_value into, const char* what) {
  napi_value promise, name;
  if (work->region == nullptr) napi_create_reference(env, view, 1, &work->view);
  napi_create_reference(env, into, 1, &work->into);
  napi_create_promise(env, &work->deferred, &promise);
  napi_create_string_utf8(env, what, NAPI_AUTO_LENGTH, &name);
  const auto execute = [](napi_env, void* of) { Execute(static_cast<Work*>(of)); };
  napi_create_async_work(env, nullptr, name, execute, Settle, work.get(), &work->handle);
  napi_queue_async_work(env, work.release()->handle);
  return promise;
}

}  // namespace

napi_value Checksum(napi_env env, napi_callback_info info) {
  napi_value given[5];
  Arguments(env, info, given);
  bool canWait;
  // All bytes are summed.
  auto work = WorkOf(env, {given[0], given[1], given[2], given[3], given[2], given[4]}, &canWait);
  if (work == nullptr) return nullptr;
  if (canWait) return Start(env, std::move(work), given[0], given[4], "gpunvme.checksum");
  // JavaScript may transfer, resize or free an ArrayBuffer at any time, and Node-API cannot keep its memory. Computing the
  // checksum now takes no longer than copying the memory.
  Execute(work.get());
  Store(env, *work, given[4]);
  return nullptr;
}

napi_value ReadFile(napi_env env, napi_callback_info info) {
  napi_value given[8];
  Arguments(env, info, given);
  int fd;
  double fileOffset;
  if (!ReadDescriptor(env, given[0], &fd)) return nullptr;
  if (!ReadInteger(env, given[1], "fileOffsetBytes", 0, kMaxSafeInteger, &fileOffset)) return nullptr;
  bool canWait;
  auto work = WorkOf(env, {given[2], given[3], given[4], given[5], given[6], given[7]}, &canWait);
  if (work == nullptr || !canWait) return nullptr;
  if (work->region != nullptr && !work->region->writable) {
    ReleaseRegion(work->region);
    ThrowType(env, "view", "writable memory", given[2]);
    return nullptr;
  }
  work->fd = fd;
  work->fileOffset = static_cast<off_t>(fileOffset);
  return Start(env, std::move(work), given[2], given[7], "gpunvme.readFile");
}

napi_value ChecksumWay(napi_env env, napi_callback_info) {
  napi_value result;
  napi_create_string_utf8(env, AllCrc32Ways().ways[0].name, NAPI_AUTO_LENGTH, &result);
  return result;
}

}  // namespace gpunvme
