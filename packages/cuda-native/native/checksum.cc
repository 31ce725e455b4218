#include "checksum.h"

#include <algorithm>
#include <memory>
#include <vector>

#include "crc32.h"
#include "region.h"
#include "values.h"

namespace gpunvme {

namespace {

struct Work {
  const uint8_t* data;
  size_t bytes;
  size_t chunkBytes;
  std::vector<uint32_t> results;
  // Keeps the memory: the mapping that contains it, or a view of a SharedArrayBuffer, which never shrinks.
  Region* region = nullptr;
  napi_ref view = nullptr;
  napi_ref into = nullptr;
  napi_deferred deferred = nullptr;
  napi_async_work handle = nullptr;
};

void Compute(Work* work) {
  const Crc32 crc32 = AllCrc32Ways().ways[0].function;
  size_t at = 0;
  for (uint32_t& result : work->results) {
    const size_t bytes = std::min(work->chunkBytes, work->bytes - at);
    result = crc32(0, work->data + at, bytes);
    at += bytes;
  }
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
    if (Store(env, *work, into)) {
      napi_get_undefined(env, &result);
      napi_resolve_deferred(env, work->deferred, result);
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

}  // namespace

// (view, offsetBytes, lengthBytes, chunkBytes, into) -> a Promise; undefined if the results are ready on return
napi_value Checksum(napi_env env, napi_callback_info info) {
  napi_value arguments[5], buffer;
  Arguments(env, info, arguments);
  size_t length = 0;
  void* data = nullptr;
  if (napi_get_dataview_info(env, arguments[0], &length, &data, &buffer, nullptr) != napi_ok) {
    ThrowType(env, "view", "a DataView", arguments[0]);
    return nullptr;
  }
  double offset, bytes, chunkBytes;
  const auto whole = static_cast<double>(length);
  if (!ReadInteger(env, arguments[1], "offsetBytes", 0, whole, &offset)) return nullptr;
  if (!ReadInteger(env, arguments[2], "lengthBytes", 0, whole - offset, &bytes)) return nullptr;
  if (!ReadInteger(env, arguments[3], "chunkBytes", 1, kMaxSafeInteger, &chunkBytes)) return nullptr;
  uint32_t* elements;
  size_t count;
  if (!ElementsOf(env, arguments[4], &elements, &count)) {
    ThrowType(env, "into", "a Uint32Array", arguments[4]);
    return nullptr;
  }
  const auto total = static_cast<size_t>(bytes), chunk = static_cast<size_t>(chunkBytes);
  const size_t chunks = total / chunk + (total % chunk == 0 ? 0 : 1);
  if (!CheckRoom(env, count, chunks)) return nullptr;
  auto work = std::make_unique<Work>();
  work->data = static_cast<const uint8_t*>(data) + static_cast<size_t>(offset);
  work->bytes = total;
  work->chunkBytes = chunk;
  work->results.resize(chunks);
  if (total > 0) work->region = FindRegion(reinterpret_cast<uintptr_t>(work->data), total);
  // JavaScript may transfer, resize or free an ArrayBuffer at any time, and Node-API cannot keep its memory. Computing the
  // checksum now takes no longer than copying the memory.
  bool isMovable = false;
  napi_is_arraybuffer(env, buffer, &isMovable);
  if (work->region == nullptr && isMovable) {
    Compute(work.get());
    Store(env, *work, arguments[4]);
    return nullptr;
  }
  napi_value promise, name;
  if (work->region == nullptr) napi_create_reference(env, arguments[0], 1, &work->view);
  napi_create_reference(env, arguments[4], 1, &work->into);
  napi_create_promise(env, &work->deferred, &promise);
  napi_create_string_utf8(env, "gpunvme.checksum", NAPI_AUTO_LENGTH, &name);
  const auto compute = [](napi_env, void* of) { Compute(static_cast<Work*>(of)); };
  napi_create_async_work(env, nullptr, name, compute, Settle, work.get(), &work->handle);
  napi_queue_async_work(env, work.release()->handle);
  return promise;
}

napi_value ChecksumWay(napi_env env, napi_callback_info) {
  napi_value result;
  napi_create_string_utf8(env, AllCrc32Ways().ways[0].name, NAPI_AUTO_LENGTH, &result);
  return result;
}

}  // namespace gpunvme
