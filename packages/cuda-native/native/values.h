// Arguments in, errors out. Every function that gives false, or nullptr, has left an exception pending.
#pragma once

#include <node_api.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace gpunvme {

// 2^53 - 1: beyond it a JavaScript number does not say which integer it is.
constexpr double kMaxSafeInteger = 9007199254740991.0;

// Fills `arguments` with what the caller gave, undefined where that is less.
template <size_t N>
inline void Arguments(napi_env env, napi_callback_info info, napi_value (&arguments)[N]) {
  size_t count = N;
  napi_get_cb_info(env, info, &count, arguments, nullptr, nullptr);
}

// A number that is an integer from `least` to `most`: otherwise a TypeError or a RangeError with what was got.
bool ReadInteger(napi_env env, napi_value value, const char* name, double least, double most, double* result);
bool ReadDescriptor(napi_env env, napi_value value, int* result, const char* name = "fd");
// Nanoseconds that end: a number from 0 to 2^53 - 1.
bool ReadTimeout(napi_env env, napi_value value, double* result);
// A BigInt below 2^64.
bool ReadBigInt(napi_env env, napi_value value, const char* name, uint64_t* result);

// Throws "NAME: expected EXPECTED, got VALUE".
void ThrowRange(napi_env env, const char* name, const char* expected, napi_value got);
void ThrowType(napi_env env, const char* name, const char* expected, napi_value got);

// An Error as Node's fs makes them: code 'ENOMEM', errno -12, syscall 'mmap'.
napi_value SystemError(napi_env env, int error, const char* syscall);
void ThrowSystem(napi_env env, int error, const char* syscall);

napi_value Number(napi_env env, double value);
napi_value Array(napi_env env, const std::vector<napi_value>& values);

}  // namespace gpunvme
