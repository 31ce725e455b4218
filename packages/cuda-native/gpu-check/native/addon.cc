// gpunvme_null: what speed figures need and no program does. It is no part of a package.
#include <node_api.h>

#include <map>
#include <memory>
#include <string>

#include "count.h"
#include "null_controller.h"

namespace {

using gpunvme::Counted;
using gpunvme::NullController;
using gpunvme::NullQueue;

std::map<uint32_t, std::unique_ptr<NullController>> running;
uint32_t next_handle = 1;

void Set(napi_env env, napi_value object, const char* name, uint64_t value) {
  napi_value number;
  napi_create_double(env, static_cast<double>(value), &number);
  napi_set_named_property(env, object, name, number);
}

// (queues: BigUint64Array) -> handle. Six words a queue, as NullQueue has them.
napi_value Start(napi_env env, napi_callback_info info) {
  napi_value arguments[1], result;
  size_t count = 1, words = 0;
  void* data = nullptr;
  napi_get_cb_info(env, info, &count, arguments, nullptr, nullptr);
  if (napi_get_typedarray_info(env, arguments[0], nullptr, &words, &data, nullptr, nullptr) != napi_ok || words % 6 != 0) {
    napi_throw_type_error(env, nullptr, "queues: expected a BigUint64Array of six words a queue");
    return nullptr;
  }
  const auto* queues = static_cast<const NullQueue*>(data);
  running[next_handle] = std::make_unique<NullController>(std::vector<NullQueue>(queues, queues + words / 6));
  napi_create_uint32(env, next_handle++, &result);
  return result;
}

// (handle) -> { commands, rings }. Its memory may go then.
napi_value Stop(napi_env env, napi_callback_info info) {
  napi_value arguments[1], result;
  size_t count = 1;
  uint32_t handle = 0;
  napi_get_cb_info(env, info, &count, arguments, nullptr, nullptr);
  const auto found = napi_get_value_uint32(env, arguments[0], &handle) == napi_ok ? running.find(handle) : running.end();
  if (found == running.end()) {
    napi_throw_type_error(env, nullptr, "handle: expected that of a controller that runs");
    return nullptr;
  }
  found->second->Stop();
  napi_create_object(env, &result);
  Set(env, result, "commands", found->second->commands());
  Set(env, result, "rings", found->second->rings());
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
