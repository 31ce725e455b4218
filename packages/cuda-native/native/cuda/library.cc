// Finds the driver's library and its GPUs.
#include "../values.h"
#include "calls.h"
#include "state.h"

namespace gpunvme::cuda {

namespace {

napi_value Text(napi_env env, const std::string& text) {
  napi_value value;
  napi_create_string_utf8(env, text.c_str(), text.size(), &value);
  return value;
}

bool ReadText(napi_env env, napi_value value, const char* name, std::string* result) {
  size_t length = 0;
  if (napi_get_value_string_utf8(env, value, nullptr, 0, &length) != napi_ok) {
    ThrowType(env, name, "a string", value);
    return false;
  }
  result->resize(length);
  napi_get_value_string_utf8(env, value, result->data(), length + 1, &length);
  return true;
}

napi_value DescribeDevice(napi_env env, const Functions& api, int ordinal) {
  const std::string attempt = "Querying GPU " + std::to_string(ordinal);
  Device device;
  if (!Check(env, api, api.cuDeviceGet(&device, ordinal), "cuDeviceGet", attempt)) return nullptr;
  char name[256] = "", busId[32] = "";
  size_t bytes = 0;
  if (!Check(env, api, api.cuDeviceGetName(name, sizeof name, device), "cuDeviceGetName", attempt)) return nullptr;
  if (!Check(env, api, api.cuDeviceGetPCIBusId(busId, sizeof busId, device), "cuDeviceGetPCIBusId", attempt) ||
      !Check(env, api, api.cuDeviceTotalMem_v2(&bytes, device), "cuDeviceTotalMem_v2", attempt)) {
    return nullptr;
  }
  napi_value result;
  napi_create_object(env, &result);
  napi_set_named_property(env, result, "name", Text(env, name));
  napi_set_named_property(env, result, "bdf", Text(env, busId));
  napi_set_named_property(env, result, "memoryBytes", Number(env, static_cast<double>(bytes)));
  std::vector<napi_value> values;
  for (const int attribute : {kAttributeComputeMajor, kAttributeComputeMinor, kAttributeSamePointer,
                              kAttributeHostRegister, kAttributeGpuDirectRdma, kAttributeDmaBuf, kAttributeTimeLimit,
                              kAttributeComputeMode, kAttributeFlushWrites, kAttributeWritesOrdering}) {
    int value = 0;
    const Result asked = api.cuDeviceGetAttribute(&value, attribute, device);
    if (!Check(env, api, asked, "cuDeviceGetAttribute", attempt)) return nullptr;
    values.push_back(Number(env, value));
  }
  napi_set_named_property(env, result, "attributes", Array(env, values));
  return result;
}

}  // namespace

napi_value Errors(napi_env env, napi_callback_info info) {
  napi_value arguments[2];
  Arguments(env, info, arguments);
  State& state = StateOf(env);
  if (state.callError != nullptr) napi_delete_reference(env, state.callError);
  if (state.timeoutError != nullptr) napi_delete_reference(env, state.timeoutError);
  napi_create_reference(env, arguments[0], 1, &state.callError);
  napi_create_reference(env, arguments[1], 1, &state.timeoutError);
  return nullptr;
}

napi_value Load(napi_env env, napi_callback_info info) {
  napi_value arguments[1];
  Arguments(env, info, arguments);
  uint32_t count = 0;
  napi_get_array_length(env, arguments[0], &count);
  std::vector<std::string> paths(count);
  for (uint32_t i = 0; i < count; i++) {
    napi_value path;
    napi_get_element(env, arguments[0], i, &path);
    if (!ReadText(env, path, "paths", &paths[i])) return nullptr;
  }
  const Library library = LoadLibrary(paths);
  std::vector<napi_value> tried, missing;
  for (const TriedLibrary& each : library.tried) {
    napi_value entry;
    napi_create_object(env, &entry);
    napi_set_named_property(env, entry, "path", Text(env, each.path));
    napi_set_named_property(env, entry, "reason", Text(env, each.reason));
    tried.push_back(entry);
  }
  for (const std::string& name : library.missing) missing.push_back(Text(env, name));
  napi_value result;
  napi_create_object(env, &result);
  if (!library.path.empty()) napi_set_named_property(env, result, "path", Text(env, library.path));
  napi_set_named_property(env, result, "tried", Array(env, tried));
  napi_set_named_property(env, result, "missing", Array(env, missing));
  return result;
}

const Functions* LoadedFunctions(napi_env env, napi_value value) {
  std::string path;
  if (!ReadText(env, value, "path", &path)) return nullptr;
  const Functions* functions = LoadLibrary({path}).functions;
  if (functions == nullptr) ThrowRange(env, "path", "the path of a library that load has loaded", value);
  return functions;
}

napi_value Probe(napi_env env, napi_callback_info info) {
  napi_value arguments[1];
  Arguments(env, info, arguments);
  const Functions* api = LoadedFunctions(env, arguments[0]);
  if (api == nullptr) return nullptr;
  const char* attempt = "Querying the GPUs";
  int version = 0, count = 0;
  if (!Check(env, *api, Initialize(*api), "cuInit", "Starting the NVIDIA driver")) return nullptr;
  if (!Check(env, *api, api->cuDriverGetVersion(&version), "cuDriverGetVersion", attempt)) return nullptr;
  if (!Check(env, *api, api->cuDeviceGetCount(&count), "cuDeviceGetCount", attempt)) return nullptr;
  std::vector<napi_value> devices;
  for (int ordinal = 0; ordinal < count; ordinal++) {
    napi_value device = DescribeDevice(env, *api, ordinal);
    if (device == nullptr) return nullptr;
    devices.push_back(device);
  }
  napi_value result;
  napi_create_object(env, &result);
  // 0 if the driver does not report it; informative only.
  int mode = 0;
  if (api->cuModuleGetLoadingMode == nullptr || api->cuModuleGetLoadingMode(&mode) != kSuccess) mode = 0;
  napi_set_named_property(env, result, "driverVersion", Number(env, version));
  napi_set_named_property(env, result, "moduleLoading", Number(env, mode));
  napi_set_named_property(env, result, "devices", Array(env, devices));
  return result;
}

}  // namespace gpunvme::cuda
