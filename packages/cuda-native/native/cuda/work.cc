#include <cstdio>
#include <cstring>

#include "../values.h"
#include "calls.h"
#include "state.h"

namespace gpunvme::cuda {

namespace {

// Reads three numbers from 1 to `most`.
bool ReadExtent(napi_env env, napi_value value, const char* name, double most, unsigned (&extent)[3]) {
  for (uint32_t i = 0; i < 3; i++) {
    napi_value element;
    double number;
    if (napi_get_element(env, value, i, &element) != napi_ok) {
      ThrowType(env, name, "an array of three numbers", value);
      return false;
    }
    if (!ReadInteger(env, element, name, 1, most, &number)) return false;
    extent[i] = static_cast<unsigned>(number);
  }
  return true;
}

bool ReadNames(napi_env env, napi_value value, std::vector<std::string>* names) {
  uint32_t count = 0;
  if (napi_get_array_length(env, value, &count) != napi_ok) {
    ThrowType(env, "names", "an array of strings", value);
    return false;
  }
  for (uint32_t i = 0; i < count; i++) {
    napi_value each;
    char name[256];
    size_t length = 0;
    napi_get_element(env, value, i, &each);
    if (napi_get_value_string_utf8(env, each, name, sizeof name, &length) != napi_ok) {
      ThrowType(env, "names", "an array of strings", value);
      return false;
    }
    names->emplace_back(name, length);
  }
  return true;
}

}  // namespace

bool ReadPart(napi_env env, const Resource& memory, napi_value offsetValue, napi_value lengthValue,
              DevicePointer* pointer, size_t* length) {
  double offset, bytes;
  const auto whole = static_cast<double>(memory.length);
  if (!ReadInteger(env, offsetValue, "offsetBytes", 0, whole, &offset)) return false;
  if (!ReadInteger(env, lengthValue, "lengthBytes", 0, whole - offset, &bytes)) return false;
  *pointer = memory.device + static_cast<DevicePointer>(offset);
  *length = static_cast<size_t>(bytes);
  return true;
}

Function KernelOf(napi_env env, const Session& session, const char* name) {
  for (const auto& [handle, resource] : StateOf(env).resources) {
    if (resource.session != &session || resource.kind != Kind::kKernels) continue;
    const auto found = resource.functions.find(name);
    if (found != resource.functions.end()) return found->second;
  }
  const std::string message = std::string("name: expected a loaded kernel, got ") + name;
  napi_throw_type_error(env, nullptr, message.c_str());
  return nullptr;
}

// (cuda, ptx, names): loads the kernels of these names.
napi_value LoadKernels(napi_env env, napi_callback_info info) {
  napi_value arguments[3];
  Arguments(env, info, arguments);
  Session* session = SessionOf(env, arguments[0]);
  if (session == nullptr) return nullptr;
  void* data = nullptr;
  size_t length = 0;
  if (napi_get_typedarray_info(env, arguments[1], nullptr, &length, &data, nullptr, nullptr) != napi_ok) {
    ThrowType(env, "ptx", "a Uint8Array", arguments[1]);
    return nullptr;
  }
  std::vector<std::string> names;
  if (!ReadNames(env, arguments[2], &names)) return nullptr;
  // The driver expects a terminating NUL, which a file lacks.
  const std::string text(static_cast<const char*>(data), length);
  char log[4096] = "";
  int options[] = {kJitErrorLogBuffer, kJitErrorLogBufferSizeBytes};
  void* values[] = {log, reinterpret_cast<void*>(sizeof log)};
  Resource resource{Kind::kKernels, session};
  const Parked parked(*session->parking);
  if (!CheckParked(env, parked, "cuModuleLoadDataEx")) return nullptr;
  const Result loaded = session->api.cuModuleLoadDataEx(&resource.module, text.c_str(), 2, options, values);
  log[sizeof log - 1] = '\0';
  std::vector<std::string> facts;
  for (char* rest = log, *line; (line = strtok_r(rest, "\n", &rest)) != nullptr;) facts.emplace_back(line);
  if (!Check(env, session->api, loaded, "cuModuleLoadDataEx", "Loading kernels", facts)) return nullptr;
  for (const std::string& name : names) {
    const char* call = "cuModuleGetFunction";
    Function function = nullptr;
    Result found = session->api.cuModuleGetFunction(&function, resource.module, name.c_str());
    // Not an entry point of this module.
    if (found == kErrorNotFound) continue;
    if (found == kSuccess && session->api.cuFuncLoad != nullptr) {
      call = "cuFuncLoad";
      found = session->api.cuFuncLoad(function);
    }
    if (found != kSuccess) {
      Undo(env, resource);
      Check(env, session->api, found, call, "Loading the kernel " + name);
      return nullptr;
    }
    resource.functions.emplace(name, function);
  }
  return Keep(env, resource);
}

napi_value CreateStream(napi_env env, napi_callback_info info) {
  napi_value arguments[1];
  Arguments(env, info, arguments);
  Session* session = SessionOf(env, arguments[0]);
  if (session == nullptr) return nullptr;
  Resource resource{Kind::kStream, session};
  const Result created = session->api.cuStreamCreate(&resource.stream, kStreamNonBlocking);
  return Check(env, session->api, created, "cuStreamCreate", "Creating a stream") ? Keep(env, resource) : nullptr;
}

napi_value Launch(napi_env env, napi_callback_info info) {
  napi_value arguments[5];
  Arguments(env, info, arguments);
  const Resource* stream = ResourceOf(env, arguments[0], Kind::kStream, "stream");
  if (stream == nullptr) return nullptr;
  char name[256];
  size_t nameLength = 0;
  if (napi_get_value_string_utf8(env, arguments[1], name, sizeof name, &nameLength) != napi_ok) {
    ThrowType(env, "name", "a string", arguments[1]);
    return nullptr;
  }
  unsigned grid[3], block[3];
  if (!ReadExtent(env, arguments[2], "grid", INT32_MAX, grid)) return nullptr;
  if (!ReadExtent(env, arguments[3], "block", 1024, block)) return nullptr;
  // src/cuda/kernels.ts has compared their sizes with the kernel's parameters.
  uint32_t count = 0;
  napi_get_array_length(env, arguments[4], &count);
  std::vector<void*> parameters(count);
  for (uint32_t i = 0; i < count; i++) {
    napi_value bytes;
    napi_get_element(env, arguments[4], i, &bytes);
    if (napi_get_typedarray_info(env, bytes, nullptr, nullptr, &parameters[i], nullptr, nullptr) != napi_ok) {
      ThrowType(env, "args", "an array of Uint8Arrays", bytes);
      return nullptr;
    }
  }
  const Session& session = *stream->session;
  Function function = KernelOf(env, session, name);
  if (function == nullptr) return nullptr;
  const std::string attempt = std::string("Launching ") + name;
  const Functions& api = session.api;
  int most = 0;
  const Result asked = api.cuFuncGetAttribute(&most, kFuncMaxThreadsPerBlock, function);
  if (!Check(env, api, asked, "cuFuncGetAttribute", attempt)) return nullptr;
  const uint64_t threads = uint64_t{block[0]} * block[1] * block[2];
  if (threads > static_cast<uint64_t>(most)) {
    char message[128];
    std::snprintf(message, sizeof message, "block: expected at most %d threads, got %llu", most,
                  static_cast<unsigned long long>(threads));
    napi_throw_range_error(env, nullptr, message);
    return nullptr;
  }
  const Result launched = api.cuLaunchKernel(function, grid[0], grid[1], grid[2], block[0], block[1], block[2], 0,
                                             stream->stream, parameters.data(), nullptr);
  Check(env, api, launched, "cuLaunchKernel", attempt);
  return nullptr;
}

// (stream, memory, offsetBytes, lengthBytes, address): copies from host memory, which must stay mapped until the copy
// has ended.
napi_value CopyIn(napi_env env, napi_callback_info info) {
  napi_value arguments[5];
  Arguments(env, info, arguments);
  const Resource* stream = ResourceOf(env, arguments[0], Kind::kStream, "stream");
  const Resource* memory = stream == nullptr ? nullptr : ResourceOf(env, arguments[1], Kind::kDevice, "to");
  DevicePointer to;
  size_t length;
  uint64_t from;
  if (memory == nullptr || !ReadPart(env, *memory, arguments[2], arguments[3], &to, &length)) return nullptr;
  if (!ReadBigInt(env, arguments[4], "address", &from)) return nullptr;
  const Functions& api = stream->session->api;
  const auto* source = reinterpret_cast<const void*>(static_cast<uintptr_t>(from));
  const Result copied = api.cuMemcpyHtoDAsync_v2(to, source, length, stream->stream);
  Check(env, api, copied, "cuMemcpyHtoDAsync_v2", "Copying to GPU memory");
  return nullptr;
}

// (stream, memory, offsetBytes, lengthBytes, address): copies to host memory, which must stay mapped until the copy has
// ended.
napi_value CopyOut(napi_env env, napi_callback_info info) {
  napi_value arguments[5];
  Arguments(env, info, arguments);
  const Resource* stream = ResourceOf(env, arguments[0], Kind::kStream, "stream");
  const Resource* memory = stream == nullptr ? nullptr : ResourceOf(env, arguments[1], Kind::kDevice, "from");
  DevicePointer from;
  size_t length;
  uint64_t to;
  if (memory == nullptr || !ReadPart(env, *memory, arguments[2], arguments[3], &from, &length)) return nullptr;
  if (!ReadBigInt(env, arguments[4], "address", &to)) return nullptr;
  const Functions& api = stream->session->api;
  const Result copied =
      api.cuMemcpyDtoHAsync_v2(reinterpret_cast<void*>(static_cast<uintptr_t>(to)), from, length, stream->stream);
  Check(env, api, copied, "cuMemcpyDtoHAsync_v2", "Copying from GPU memory");
  return nullptr;
}

// (stream, memory, offsetBytes, lengthBytes, byte)
napi_value Fill(napi_env env, napi_callback_info info) {
  napi_value arguments[5];
  Arguments(env, info, arguments);
  const Resource* stream = ResourceOf(env, arguments[0], Kind::kStream, "stream");
  const Resource* memory = stream == nullptr ? nullptr : ResourceOf(env, arguments[1], Kind::kDevice, "memory");
  DevicePointer to;
  size_t length;
  double byte;
  if (memory == nullptr || !ReadPart(env, *memory, arguments[2], arguments[3], &to, &length)) return nullptr;
  if (!ReadInteger(env, arguments[4], "byte", 0, 255, &byte)) return nullptr;
  const Functions& api = stream->session->api;
  const Parked parked(*stream->session->parking);
  if (!CheckParked(env, parked, "cuMemsetD8Async")) return nullptr;
  const Result filled = api.cuMemsetD8Async(to, static_cast<unsigned char>(byte), length, stream->stream);
  Check(env, api, filled, "cuMemsetD8Async", "Filling GPU memory");
  return nullptr;
}

napi_value IsDone(napi_env env, napi_callback_info info) {
  napi_value arguments[1], result;
  Arguments(env, info, arguments);
  const Resource* stream = ResourceOf(env, arguments[0], Kind::kStream, "stream");
  if (stream == nullptr) return nullptr;
  const Functions& api = stream->session->api;
  const Result answer = api.cuStreamQuery(stream->stream);
  const bool isUnderWay = answer == kErrorNotReady;
  if (!isUnderWay && !Check(env, api, answer, "cuStreamQuery", "Waiting for the GPU")) return nullptr;
  napi_get_boolean(env, !isUnderWay, &result);
  return result;
}

napi_value Finished(napi_env env, napi_callback_info info) {
  napi_value arguments[2];
  Arguments(env, info, arguments);
  const Resource* stream = ResourceOf(env, arguments[0], Kind::kStream, "stream");
  double timeoutNs;
  if (stream == nullptr || !ReadInteger(env, arguments[1], "timeoutNs", 0, 1e15, &timeoutNs)) return nullptr;
  return StateOf(env).watcher.Add(env, *stream->session, stream->stream, timeoutNs);
}

}  // namespace gpunvme::cuda
