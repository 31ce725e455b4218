// Reads arguments and throws errors. A function that returns false or nullptr has left an exception pending.
#pragma once

#include <node_api.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace gpunvme {

// 2^53 - 1, the largest integer that a JavaScript number represents uniquely.
constexpr double kMaxSafeInteger = 9007199254740991.0;

// Fills `arguments` with the caller's; missing ones are undefined.
template <size_t N>
inline void Arguments(napi_env env, napi_callback_info info, napi_value (&arguments)[N]) {
  size_t count = N;
  napi_get_cb_info(env, info, &count, arguments, nullptr, nullptr);
}

// Reads an integer from `least` to `most`. Throws TypeError or RangeError with the received value.
bool ReadInteger(napi_env env, napi_value value, const char* name, double least, double most, double* result);
bool ReadDescriptor(napi_env env, napi_value value, int* result, const char* name = "fd");
// Reads finite nanoseconds, from 0 to 2^53 - 1.
bool ReadTimeout(napi_env env, napi_value value, double* result);
// Reads a BigInt from 0 to 2^64 - 1.
bool ReadBigInt(napi_env env, napi_value value, const char* name, uint64_t* result);

// Throws "NAME: expected EXPECTED, got VALUE".
void ThrowRange(napi_env env, const char* name, const char* expected, napi_value got);
void ThrowType(napi_env env, const char* name, const char* expected, napi_value got);

// Creates an Error like those of Node's fs: code 'ENOMEM', errno -12, syscall 'mmap'.
napi_value SystemError(napi_env env, int error, const char* syscall);
void ThrowSystem(napi_env env, int error, const char* syscall);

napi_value Number(napi_env env, double value);
napi_value Array(napi_env env, const std::vector<napi_value>& values);

}  // namespace gpunvme
