// Mapping of memory, and access to it. Only this package's TypeScript sees the opaque handles of regions.
#pragma once

#include <node_api.h>

namespace gpunvme {

napi_value Map(napi_env env, napi_callback_info info);
napi_value MapForeign(napi_env env, napi_callback_info info);
napi_value LostForeignBytes(napi_env env, napi_callback_info info);
napi_value Allocate(napi_env env, napi_callback_info info);
napi_value Unmap(napi_env env, napi_callback_info info);
napi_value Address(napi_env env, napi_callback_info info);
napi_value Length(napi_env env, napi_callback_info info);
napi_value Buffer(napi_env env, napi_callback_info info);
napi_value View(napi_env env, napi_callback_info info);
napi_value Load32(napi_env env, napi_callback_info info);
napi_value Store32(napi_env env, napi_callback_info info);
napi_value Load64(napi_env env, napi_callback_info info);
napi_value Store64(napi_env env, napi_callback_info info);

}  // namespace gpunvme
