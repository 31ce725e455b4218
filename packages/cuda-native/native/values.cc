#include "values.h"

#include <cmath>
#include <cstdio>
#include <cstring>
#include <string>

namespace gpunvme {

namespace {

std::string Text(napi_env env, napi_value value) {
  char text[64];
  size_t length = 0;
  napi_value string;
  if (napi_coerce_to_string(env, value, &string) != napi_ok) return "?";
  napi_get_value_string_utf8(env, string, text, sizeof text, &length);
  return std::string(text, length);
}

std::string Message(napi_env env, const char* name, const char* expected, napi_value got) {
  napi_valuetype type = napi_undefined;
  napi_typeof(env, got, &type);
  std::string what;
  switch (type) {
    case napi_number: what = Text(env, got); break;
    case napi_bigint: what = Text(env, got) + "n"; break;
    case napi_undefined: what = "undefined"; break;
    case napi_null: what = "null"; break;
    case napi_boolean: what = "a boolean"; break;
    case napi_string: what = "a string"; break;
    case napi_symbol: what = "a symbol"; break;
    case napi_function: what = "a function"; break;
    default: what = "an object"; break;
  }
  return std::string(name) + ": expected " + expected + ", got " + what;
}

}  // namespace

void ThrowRange(napi_env env, const char* name, const char* expected, napi_value got) {
  napi_throw_range_error(env, nullptr, Message(env, name, expected, got).c_str());
}

void ThrowType(napi_env env, const char* name, const char* expected, napi_value got) {
  napi_throw_type_error(env, nullptr, Message(env, name, expected, got).c_str());
}

bool ReadInteger(napi_env env, napi_value value, const char* name, double least, double most, double* result) {
  if (napi_get_value_double(env, value, result) != napi_ok) {
    ThrowType(env, name, "a number", value);
    return false;
  }
  if (*result >= least && *result <= most && *result == std::floor(*result)) return true;
  char expected[96];
  std::snprintf(expected, sizeof expected, "an integer from %.0f to %.0f", least, most);
  ThrowRange(env, name, expected, value);
  return false;
}

bool ReadDescriptor(napi_env env, napi_value value, int* result, const char* name) {
  double number;
  if (!ReadInteger(env, value, name, 0, INT32_MAX, &number)) return false;
  *result = static_cast<int>(number);
  return true;
}

bool ReadTimeout(napi_env env, napi_value value, double* result) {
  if (napi_get_value_double(env, value, result) != napi_ok) {
    ThrowType(env, "timeoutNs", "a number", value);
    return false;
  }
  if (*result >= 0 && *result <= kMaxSafeInteger) return true;
  ThrowRange(env, "timeoutNs", "nanoseconds from 0 to 2^53 - 1", value);
  return false;
}

bool ReadBigInt(napi_env env, napi_value value, const char* name, uint64_t* result) {
  bool lossless = false;
  if (napi_get_value_bigint_uint64(env, value, result, &lossless) != napi_ok) {
    ThrowType(env, name, "a BigInt", value);
    return false;
  }
  if (!lossless) ThrowRange(env, name, "a BigInt from 0 to 2^64 - 1", value);
  return lossless;
}

napi_value SystemError(napi_env env, int error, const char* syscall) {
  const char* name = strerrorname_np(error);
  const std::string code = name == nullptr ? "E" + std::to_string(error) : name;
  const char* described = strerrordesc_np(error);
  const std::string message = code + ": " + (described == nullptr ? "unknown error" : described) + ", " + syscall;
  napi_value text, codeValue, syscallValue, result;
  napi_create_string_utf8(env, message.c_str(), message.size(), &text);
  napi_create_string_utf8(env, code.c_str(), code.size(), &codeValue);
  napi_create_string_utf8(env, syscall, NAPI_AUTO_LENGTH, &syscallValue);
  napi_create_error(env, codeValue, text, &result);
  napi_set_named_property(env, result, "errno", Number(env, -error));
  napi_set_named_property(env, result, "syscall", syscallValue);
  return result;
}

void ThrowSystem(napi_env env, int error, const char* syscall) {
  napi_throw(env, SystemError(env, error, syscall));
}

napi_value Array(napi_env env, const std::vector<napi_value>& values) {
  napi_value array;
  napi_create_array_with_length(env, values.size(), &array);
  for (size_t i = 0; i < values.size(); i++) napi_set_element(env, array, static_cast<uint32_t>(i), values[i]);
  return array;
}

napi_value Number(napi_env env, double value) {
  napi_value result;
  napi_create_double(env, value, &result);
  return result;
}

}  // namespace gpunvme
