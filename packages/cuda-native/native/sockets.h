// Unix domain sockets whose messages carry descriptors. No call blocks without a limit. `receive`, `send` and `poll`
// create no garbage.
#pragma once

#include <node_api.h>

namespace gpunvme {

napi_value Listen(napi_env env, napi_callback_info info);
// Returns -1 if no connection is pending.
napi_value Accept(napi_env env, napi_callback_info info);
napi_value Connect(napi_env env, napi_callback_info info);
napi_value Receive(napi_env env, napi_callback_info info);
napi_value Send(napi_env env, napi_callback_info info);
napi_value Poll(napi_env env, napi_callback_info info);

}  // namespace gpunvme
