// gpunvme_drive: drives that CPU threads serve, and counts of PCIe transactions. For gpu-check only.
#include <node_api.h>

#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <system_error>
#include <vector>

#include "count.h"
#include "drive_threads.h"

namespace {

using gpunvme::Counted;
using gpunvme::DriveNamespace;
using gpunvme::DrivePlan;
using gpunvme::DriveQueue;
using gpunvme::DriveThreads;

std::map<uint32_t, std::unique_ptr<DriveThreads>> running;
uint32_t next_handle = 1;

void Set(napi_env env, napi_value object, const char* name, uint64_t value) {
  napi_value number;
  napi_create_double(env, static_cast<double>(value), &number);
  napi_set_named_property(env, object, name, number);
}

// Returns the words of a BigUint64Array, or null with an exception pending.
const uint64_t* Words(napi_env env, napi_value value, const char* name, size_t multiple, size_t* count) {
  void* data = nullptr;
  napi_typedarray_type type;
  if (napi_get_typedarray_info(env, value, &type, count, &data, nullptr, nullptr) == napi_ok && type == napi_biguint64_array &&
      *count > 0 && *count % multiple == 0)
    return static_cast<const uint64_t*>(data);
  const std::string text = std::string(name) + ": expected a BigUint64Array with a multiple of " + std::to_string(multiple) + " words";
  napi_throw_type_error(env, nullptr, text.c_str());
  return nullptr;
}

// (queues: DriveQueue[], drive: DriveNamespace and DrivePlan, threads) -> handle
napi_value Start(napi_env env, napi_callback_info info) {
  napi_value arguments[3], result;
  size_t count = 3, queue_words = 0, drive_words = 0;
  uint32_t threads = 0;
  napi_get_cb_info(env, info, &count, arguments, nullptr, nullptr);
  const uint64_t* queues = Words(env, arguments[0], "queues", sizeof(DriveQueue) / 8, &queue_words);
  if (queues == nullptr) return nullptr;
  const uint64_t* drive = Words(env, arguments[1], "drive", (sizeof(DriveNamespace) + sizeof(DrivePlan)) / 8, &drive_words);
  if (drive == nullptr) return nullptr;
  const size_t queue_count = queue_words / (sizeof(DriveQueue) / 8);
  // Rates are comparable only if each thread serves the same number of queues.
  if (napi_get_value_uint32(env, arguments[2], &threads) != napi_ok || threads == 0 || queue_count % threads != 0) {
    const std::string text = "threads: expected a divisor of " + std::to_string(queue_count) + " queues";
    napi_throw_range_error(env, nullptr, text.c_str());
    return nullptr;
  }
  const auto* first = reinterpret_cast<const DriveQueue*>(queues);
  DriveNamespace space;
  DrivePlan plan;
  std::memcpy(&space, drive, sizeof space);
  std::memcpy(&plan, drive + sizeof space / 8, sizeof plan);
  std::vector<DriveQueue> all(first, first + queue_count);
  try {
    running[next_handle] = std::make_unique<DriveThreads>(std::move(all), space, plan, threads);
  } catch (const std::system_error& error) {
    running.erase(next_handle);
    const std::string text = "threads: creating " + std::to_string(threads) + " threads failed: " + error.what();
    napi_throw_error(env, nullptr, text.c_str());
    return nullptr;
  }
  napi_create_uint32(env, next_handle++, &result);
  return result;
}

// (handle) -> BigUint64Array of DriveQueue, with the counts. After this, the memory of the queues can be freed.
napi_value Stop(napi_env env, napi_callback_info info) {
  napi_value arguments[1], memory, result;
  size_t count = 1;
  uint32_t handle = 0;
  napi_get_cb_info(env, info, &count, arguments, nullptr, nullptr);
  const auto found = napi_get_value_uint32(env, arguments[0], &handle) == napi_ok ? running.find(handle) : running.end();
  if (found == running.end()) {
    napi_throw_type_error(env, nullptr, "handle: expected the handle of a running drive");
    return nullptr;
  }
  const std::vector<DriveQueue>& queues = found->second->Stop();
  const size_t bytes = queues.size() * sizeof(DriveQueue);
  void* data = nullptr;
  napi_create_arraybuffer(env, bytes, &data, &memory);
  std::memcpy(data, queues.data(), bytes);
  napi_create_typedarray(env, napi_biguint64_array, bytes / 8, memory, 0, &result);
  running.erase(found);
  return result;
}

// (which: 'engine' | 'original', commands, depth) -> { loads, stores, doorbells }
napi_value Count(napi_env env, napi_callback_info info) {
  napi_value arguments[3], result;
  size_t count = 3, length = 0;
  char which[16] = "";
  uint32_t commands = 0, depth = 0;
  napi_get_cb_info(env, info, &count, arguments, nullptr, nullptr);
  napi_get_value_string_utf8(env, arguments[0], which, sizeof which, &length);
  napi_get_value_uint32(env, arguments[1], &commands);
  napi_get_value_uint32(env, arguments[2], &depth);
  if (commands == 0 || depth < 2) {
    napi_throw_range_error(env, nullptr, "expected commands, and a depth of 2 or more");
    return nullptr;
  }
  const bool engine = std::string(which) == "engine";
  const Counted counted = engine ? gpunvme::CountEngine(commands, depth) : gpunvme::CountOriginal(commands, depth);
  napi_create_object(env, &result);
  Set(env, result, "loads", counted.loads);
  Set(env, result, "stores", counted.stores);
  Set(env, result, "doorbells", counted.doorbells);
  return result;
}

}  // namespace

NAPI_MODULE_INIT() {
  constexpr struct {
    const char* name;
    napi_callback function;
  } kFunctions[] = {{"start", Start}, {"stop", Stop}, {"count", Count}};
  for (const auto& [name, function] : kFunctions) {
    napi_value value;
    if (napi_create_function(env, name, NAPI_AUTO_LENGTH, function, nullptr, &value) != napi_ok) return nullptr;
    napi_set_named_property(env, exports, name, value);
  }
  return exports;
}
