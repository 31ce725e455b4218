// System calls other than for memory.
#pragma once

#include <node_api.h>

namespace gpunvme {

napi_value Yield(napi_env env, napi_callback_info info);
napi_value Ioctl(napi_env env, napi_callback_info info);
napi_value IoctlNumber(napi_env env, napi_callback_info info);
napi_value Eventfd(napi_env env, napi_callback_info info);
napi_value SignalEventfd(napi_env env, napi_callback_info info);
napi_value DrainEventfd(napi_env env, napi_callback_info info);
napi_value Move(napi_env env, napi_callback_info info);
napi_value WaitReadable(napi_env env, napi_callback_info info);
napi_value MemlockLimitBytes(napi_env env, napi_callback_info info);
napi_value PunchHole(napi_env env, napi_callback_info info);

}  // namespace gpunvme
