#include <fcntl.h>

#include <cstdio>

#include "../values.h"
#include "calls.h"
#include "reachable.h"
#include "state.h"
#include "touch.h"

namespace gpunvme::cuda {

namespace {

std::string Bytes(double bytes) {
  char text[32];
  std::snprintf(text, sizeof text, "%.0f bytes", bytes);
  return text;
}

// Finds the GPU's address of host memory that was just pinned; unpins it if there is none.
bool FindDevicePointer(napi_env env, Resource* resource, const std::string& attempt) {
  const Functions& api = resource->session->api;
  const Result asked = api.cuMemHostGetDevicePointer_v2(&resource->device, resource->host, 0);
  if (asked == kSuccess) return true;
  Undo(env, *resource);
  return Check(env, api, asked, "cuMemHostGetDevicePointer_v2", attempt);
}

Resource* FindAny(napi_env env, napi_value handle, std::map<uint64_t, Resource>::iterator* found) {
  double number;
  if (!ReadInteger(env, handle, "handle", 1, kMaxSafeInteger, &number)) return nullptr;
  State& state = StateOf(env);
  *found = state.resources.find(static_cast<uint64_t>(number));
  if (*found != state.resources.end()) return &(*found)->second;
  napi_throw_type_error(env, "ERR_GPUNVME_CUDA_FREED", "handle: expected an allocated resource, got a freed one");
  return nullptr;
}

}  // namespace

napi_value AllocPinned(napi_env env, napi_callback_info info) {
  napi_value arguments[2];
  Arguments(env, info, arguments);
  double length;
  if (!ReadInteger(env, arguments[1], "lengthBytes", 1, kMaxSafeInteger, &length)) return nullptr;
  Session* session = SessionOf(env, arguments[0]);
  if (session == nullptr) return nullptr;
  const std::string attempt = "Allocating " + Bytes(length) + " of pinned memory";
  void* memory = nullptr;
  const unsigned flags = kMemHostAllocPortable | kMemHostAllocDeviceMap;
  const Parked parked(*session->parking);
  if (!CheckParked(env, parked, "cuMemHostAlloc")) return nullptr;
  const Result allocated = session->api.cuMemHostAlloc(&memory, static_cast<size_t>(length), flags);
  if (!Check(env, session->api, allocated, "cuMemHostAlloc", attempt)) return nullptr;
  Resource resource{Kind::kPinned, session};
  resource.length = static_cast<size_t>(length);
  resource.host = static_cast<uint8_t*>(memory);
  return FindDevicePointer(env, &resource, attempt) ? Keep(env, resource) : nullptr;
}

napi_value AllocDevice(napi_env env, napi_callback_info info) {
  napi_value arguments[2];
  Arguments(env, info, arguments);
  double length;
  if (!ReadInteger(env, arguments[1], "lengthBytes", 1, kMaxSafeInteger, &length)) return nullptr;
  Session* session = SessionOf(env, arguments[0]);
  if (session == nullptr) return nullptr;
  Resource resource{Kind::kDevice, session};
  resource.length = static_cast<size_t>(length);
  const Parked parked(*session->parking);
  if (!CheckParked(env, parked, "cuMemAlloc_v2")) return nullptr;
  const Result allocated = session->api.cuMemAlloc_v2(&resource.device, resource.length);
  const std::string attempt = "Allocating " + Bytes(length) + " of GPU memory";
  return Check(env, session->api, allocated, "cuMemAlloc_v2", attempt) ? Keep(env, resource) : nullptr;
}

napi_value Register(napi_env env, napi_callback_info info) {
  napi_value arguments[4];
  Arguments(env, info, arguments);
  uint64_t address;
  double length;
  bool io;
  if (!ReadBigInt(env, arguments[1], "address", &address)) return nullptr;
  if (!ReadInteger(env, arguments[2], "lengthBytes", 1, kMaxSafeInteger, &length)) return nullptr;
  if (napi_get_value_bool(env, arguments[3], &io) != napi_ok) {
    ThrowType(env, "io", "a boolean", arguments[3]);
    return nullptr;
  }
  Session* session = SessionOf(env, arguments[0]);
  if (session == nullptr) return nullptr;
  char attempt[96];
  std::snprintf(attempt, sizeof attempt, "Registering %.0f bytes of %s at 0x%llx", length, io ? "registers" : "memory",
                static_cast<unsigned long long>(address));
  Resource resource{Kind::kRegistration, session};
  resource.length = static_cast<size_t>(length);
  resource.host = reinterpret_cast<uint8_t*>(static_cast<uintptr_t>(address));
  const unsigned flags = kRegisterPortable | kRegisterDeviceMap | (io ? kRegisterIoMemory : 0);
  const Parked parked(*session->parking);
  if (!CheckParked(env, parked, "cuMemHostRegister_v2")) return nullptr;
  if (io) TouchPages(address / 4096 * 4096, address + static_cast<uint64_t>(length));
  const Result registered = session->api.cuMemHostRegister_v2(resource.host, resource.length, flags);
  if (!Check(env, session->api, registered, "cuMemHostRegister_v2", attempt)) return nullptr;
  return FindDevicePointer(env, &resource, attempt) ? Keep(env, resource) : nullptr;
}

napi_value Describe(napi_env env, napi_callback_info info) {
  napi_value arguments[1], host, device, result;
  Arguments(env, info, arguments);
  std::map<uint64_t, Resource>::iterator found;
  const Resource* resource = FindAny(env, arguments[0], &found);
  if (resource == nullptr) return nullptr;
  napi_create_bigint_uint64(env, reinterpret_cast<uintptr_t>(resource->host), &host);
  napi_create_bigint_uint64(env, resource->device, &device);
  napi_create_array_with_length(env, 2, &result);
  napi_set_element(env, result, 0, host);
  napi_set_element(env, result, 1, device);
  return result;
}

// (cuda, address, lengthBytes) -> the GPU's address of host memory; 0n if the GPU cannot access all of its pages.
napi_value Reachable(napi_env env, napi_callback_info info) {
  napi_value arguments[3], result;
  Arguments(env, info, arguments);
  uint64_t address;
  double length;
  if (!ReadBigInt(env, arguments[1], "address", &address)) return nullptr;
  if (!ReadInteger(env, arguments[2], "lengthBytes", 1, kMaxSafeInteger, &length)) return nullptr;
  const Session* session = SessionOf(env, arguments[0]);
  if (session == nullptr) return nullptr;
  const uint64_t first = address / 4096 * 4096;
  const uint64_t end = (address + static_cast<uint64_t>(length) + 4095) / 4096 * 4096;
  DevicePointer device = 0;
  const Result found = FindReachable(session->api, first, end, &device);
  if (!Check(env, session->api, found, "cuMemHostGetDevicePointer_v2", "Finding registered memory")) return nullptr;
  napi_create_bigint_uint64(env, device == 0 ? 0 : device + (address - first), &result);
  return result;
}

napi_value Buffer(napi_env env, napi_callback_info info) {
  napi_value arguments[1], buffer = nullptr;
  Arguments(env, info, arguments);
  Resource* resource = ResourceOf(env, arguments[0], Kind::kPinned, "memory");
  if (resource == nullptr) return nullptr;
  if (resource->buffer != nullptr) {
    napi_get_reference_value(env, resource->buffer, &buffer);
    if (buffer != nullptr) return buffer;
    napi_delete_reference(env, resource->buffer);
    resource->buffer = nullptr;
  }
  const napi_status status =
      napi_create_external_arraybuffer(env, resource->host, resource->length, nullptr, nullptr, &buffer);
  if (status == napi_no_external_buffers_allowed) {
    napi_throw_error(env, "ERR_GPUNVME_NO_EXTERNAL_BUFFERS",
                     "buffer: this runtime does not allow an ArrayBuffer over native memory (Electron, or a build with "
                     "pointer compression); use Node.js");
    return nullptr;
  }
  if (status != napi_ok) {
    napi_throw_error(env, nullptr, "buffer: the ArrayBuffer could not be created");
    return nullptr;
  }
  napi_create_reference(env, buffer, 0, &resource->buffer);
  return buffer;
}

napi_value ExportDmaBuf(napi_env env, napi_callback_info info) {
  napi_value arguments[3];
  Arguments(env, info, arguments);
  uint64_t pointer;
  double length;
  if (!ReadBigInt(env, arguments[1], "gpuPointer", &pointer)) return nullptr;
  if (!ReadInteger(env, arguments[2], "lengthBytes", 1, kMaxSafeInteger, &length)) return nullptr;
  const Session* session = SessionOf(env, arguments[0]);
  if (session == nullptr) return nullptr;
  int fd = -1;
  const Result exported = session->api.cuMemGetHandleForAddressRange(&fd, pointer, static_cast<size_t>(length),
                                                                     kRangeHandleDmaBufFd, 0);
  const std::string attempt = "Exporting " + Bytes(length) + " of GPU memory as dma-buf";
  if (!Check(env, session->api, exported, "cuMemGetHandleForAddressRange", attempt)) return nullptr;
  // A child process must not inherit the memory.
  fcntl(fd, F_SETFD, FD_CLOEXEC);
  return Number(env, fd);
}

napi_value FlushWrites(napi_env env, napi_callback_info info) {
  napi_value arguments[1], result = nullptr;
  Arguments(env, info, arguments);
  const Session* session = SessionOf(env, arguments[0]);
  if (session == nullptr) return nullptr;
  const auto flush = session->api.cuFlushGPUDirectRDMAWrites;
  const Result flushed = flush == nullptr ? kErrorNotFound : flush(kFlushCurrentContext, kFlushToOwner);
  if (!Check(env, session->api, flushed, "cuFlushGPUDirectRDMAWrites", "Flushing writes of other devices")) return nullptr;
  napi_get_undefined(env, &result);
  return result;
}

napi_value AddressOf(napi_env env, napi_callback_info info) {
  napi_value arguments[1], result;
  Arguments(env, info, arguments);
  void* data = nullptr;
  bool is = false;
  if (napi_is_dataview(env, arguments[0], &is) == napi_ok && is) {
    napi_get_dataview_info(env, arguments[0], nullptr, &data, nullptr, nullptr);
  } else if (napi_is_typedarray(env, arguments[0], &is) == napi_ok && is) {
    napi_get_typedarray_info(env, arguments[0], nullptr, nullptr, &data, nullptr, nullptr);
  } else {
    ThrowType(env, "memory", "a DataView or a typed array", arguments[0]);
    return nullptr;
  }
  napi_create_bigint_uint64(env, reinterpret_cast<uintptr_t>(data), &result);
  return result;
}

napi_value Free(napi_env env, napi_callback_info info) {
  napi_value arguments[1];
  Arguments(env, info, arguments);
  std::map<uint64_t, Resource>::iterator found;
  Resource* resource = FindAny(env, arguments[0], &found);
  if (resource == nullptr) return nullptr;
  const Session& session = *resource->session;
  const Functions& api = session.api;
  const Result entered = session.Note(session.Enter(), "cuCtxSetCurrent");
  // If its context cannot be made current, it may be dead, which its streams report.
  if (entered != kSuccess) static_cast<void>(IsBusy(StateOf(env), session));
  if (!session.IsDead() && !Check(env, api, entered, "cuCtxSetCurrent", "Using the GPU")) return nullptr;
  if (resource->kind == Kind::kStream &&
      session.Note(api.cuStreamQuery(resource->stream), "cuStreamQuery") == kErrorNotReady) {
    napi_throw_type_error(env, "ERR_GPUNVME_CUDA_BUSY",
                          "stream: expected an idle stream, got one with work: await finished() first");
    return nullptr;
  }
  const Parked parked(*resource->session->parking);
  if (!CheckParked(env, parked, "freeing memory")) return nullptr;
  // Whatever the driver returns, it must not be freed twice.
  const Failure failure = Undo(env, *resource);
  StateOf(env).resources.erase(found);
  session.Note(failure.result, failure.call);
  // Nothing runs in a dead context, so its resources are free, whatever the driver returns.
  if (session.IsDead()) return nullptr;
  Check(env, api, failure.result, failure.call, "Freeing a resource of the GPU");
  return nullptr;
}

}  // namespace gpunvme::cuda
