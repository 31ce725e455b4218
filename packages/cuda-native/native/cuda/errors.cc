#include "../values.h"
#include "session.h"
#include "state.h"

namespace gpunvme::cuda {

namespace {

void Set(napi_env env, napi_value object, const char* name, const std::string& text) {
  napi_value value;
  napi_create_string_utf8(env, text.c_str(), text.size(), &value);
  napi_set_named_property(env, object, name, value);
}

}  // namespace

napi_value CallError(napi_env env, const Functions& api, Result result, const char* call, const std::string& attempt,
                     const std::vector<std::string>& facts) {
  // A driver older than the error does not know its name.
  const char* name = nullptr;
  const char* text = nullptr;
  if (api.cuGetErrorName(result, &name) != kSuccess || name == nullptr) name = "an unnamed error";
  if (api.cuGetErrorString(result, &text) != kSuccess || text == nullptr) text = "no description";
  napi_value details, lines, constructor = nullptr, error = nullptr;
  napi_create_object(env, &details);
  Set(env, details, "attempt", attempt);
  Set(env, details, "call", call);
  Set(env, details, "name", name);
  Set(env, details, "description", text);
  napi_set_named_property(env, details, "result", Number(env, result));
  napi_create_array(env, &lines);
  for (size_t i = 0; i < facts.size(); i++) {
    napi_value line;
    napi_create_string_utf8(env, facts[i].c_str(), facts[i].size(), &line);
    napi_set_element(env, lines, static_cast<uint32_t>(i), line);
  }
  napi_set_named_property(env, details, "facts", lines);
  napi_get_reference_value(env, StateOf(env).callError, &constructor);
  napi_new_instance(env, constructor, 1, &details, &error);
  return error;
}

bool CheckParked(napi_env env, const Parked& parked, const char* call) {
  if (parked.ok()) return true;
  napi_value arguments[3], constructor = nullptr, error = nullptr;
  const std::string attempt = std::string("Pausing the engines of this GPU for ") + call;
  const char* next = "wait until other work on this GPU has ended, and try again";
  napi_create_string_utf8(env, attempt.c_str(), attempt.size(), &arguments[0]);
  arguments[1] = Number(env, static_cast<double>(parked.limit_ns()));
  napi_create_string_utf8(env, next, NAPI_AUTO_LENGTH, &arguments[2]);
  napi_get_reference_value(env, StateOf(env).timeoutError, &constructor);
  if (napi_new_instance(env, constructor, 3, arguments, &error) == napi_ok) napi_throw(env, error);
  return false;
}

bool Check(napi_env env, const Functions& api, Result result, const char* call, const std::string& attempt,
           const std::vector<std::string>& facts) {
  if (result == kSuccess) return true;
  napi_value error = CallError(env, api, result, call, attempt, facts);
  if (error != nullptr) napi_throw(env, error);
  return false;
}

}  // namespace gpunvme::cuda
