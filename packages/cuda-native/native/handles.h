// Native objects that JavaScript holds by opaque values. Node-API does not distinguish externals: another addon's value, or
// one of another type, is rejected here.
#pragma once

#include <node_api.h>

#include <unordered_set>

#include "values.h"

namespace gpunvme {

template <typename T>
class Handles {
 public:
  // Returns an opaque value for `object`. `forget` takes ownership of the object when the value is garbage-collected.
  static napi_value Create(napi_env env, T* object, void (*forget)(napi_env, T*)) {
    napi_value result = nullptr;
    const auto finalize = [](napi_env of, void* data, void* hint) {
      Live().erase(data);
      reinterpret_cast<void (*)(napi_env, T*)>(hint)(of, static_cast<T*>(data));
    };
    Live().insert(object);
    napi_create_external(env, object, finalize, reinterpret_cast<void*>(forget), &result);
    return result;
  }

  // Returns the object of a value; nullptr, with a TypeError pending, if the value is not of this type.
  static T* Of(napi_env env, napi_value value, const char* name, const char* expected) {
    void* data = nullptr;
    if (napi_get_value_external(env, value, &data) == napi_ok && Live().count(data) > 0) return static_cast<T*>(data);
    ThrowType(env, name, expected, value);
    return nullptr;
  }

 private:
  // A value never leaves its thread.
  static std::unordered_set<const void*>& Live() {
    static thread_local std::unordered_set<const void*> live;
    return live;
  }
};

}  // namespace gpunvme
