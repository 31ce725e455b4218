#include "checksum.h"

#include <algorithm>
#include <cstring>
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
  // What keeps the memory: JavaScript's view of it, and the mapping that it may be of, which `unmap` would end.
  napi_ref view = nullptr;
  Region* region = nullptr;
  napi_ref into = nullptr;
  napi_deferred deferred = nullptr;
  napi_async_work handle = nullptr;
};

void Compute(napi_env, void* data) {
  auto* work = static_cast<Work*>(data);
  const Crc32 crc32 = AllCrc32Ways().ways[0].function;
  size_t at = 0;
  for (uint32_t& result : work->results) {
    const size_t bytes = std::min(work->chunkBytes, work->bytes - at);
    result = crc32(0, work->data + at, bytes);
    at += bytes;
  }
}

// Elements of a Uint32Array; of one whose buffer is gone, none.
bool ElementsOf(napi_env env, napi_value value, uint32_t** elements, size_t* count) {
  napi_typedarray_type type;
  void* data = nullptr;
  const napi_status status = napi_get_typedarray_info(env, value, &type, count, &data, nullptr, nullptr);
  *elements = static_cast<uint32_t*>(data);
  return status == napi_ok && type == napi_uint32_array;
}

void Settle(napi_env env, napi_status status, void* data) {
  auto* work = static_cast<Work*>(data);
  napi_value into, undefined;
  uint32_t* elements;
  size_t count;
  // Nobody is left to hear of it where the environment ends.
  if (status == napi_ok && napi_get_reference_value(env, work->into, &into) == napi_ok && into != nullptr) {
    if (ElementsOf(env, into, &elements, &count) && count >= work->results.size()) {
      std::copy(work->results.begin(), work->results.end(), elements);
    }
    napi_get_undefined(env, &undefined);
    napi_resolve_deferred(env, work->deferred, undefined);
  }
  napi_delete_reference(env, work->view);
  napi_delete_reference(env, work->into);
  napi_delete_async_work(env, work->handle);
  if (work->region != nullptr) ReleaseRegion(work->region);
  delete work;
}

}  // namespace

napi_value Checksum(napi_env env, napi_callback_info info) {
  napi_value arguments[5];
  Arguments(env, info, arguments);
  size_t length = 0;
  void* data = nullptr;
  if (napi_get_dataview_info(env, arguments[0], &length, &data, nullptr, nullptr) != napi_ok) {
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
  if (count < chunks) {
    ThrowRange(env, "into", "an element for each chunk", Number(env, static_cast<double>(count)));
    return nullptr;
  }
  auto* work = new Work{static_cast<const uint8_t*>(data) + static_cast<size_t>(offset), total, chunk,
                        std::vector<uint32_t>(chunks)};
  if (total > 0) work->region = FindRegion(reinterpret_cast<uintptr_t>(work->data), total);
  napi_value promise, name;
  napi_create_reference(env, arguments[0], 1, &work->view);
  napi_create_reference(env, arguments[4], 1, &work->into);
  napi_create_promise(env, &work->deferred, &promise);
  napi_create_string_utf8(env, "gpunvme.checksum", NAPI_AUTO_LENGTH, &name);
  napi_create_async_work(env, nullptr, name, Compute, Settle, work, &work->handle);
  napi_queue_async_work(env, work->handle);
  return promise;
}

napi_value ChecksumWay(napi_env env, napi_callback_info) {
  napi_value result;
  napi_create_string_utf8(env, AllCrc32Ways().ways[0].name, NAPI_AUTO_LENGTH, &result);
  return result;
}

}  // namespace gpunvme
