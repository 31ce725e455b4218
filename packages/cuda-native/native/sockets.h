// Unix domain sockets whose messages carry descriptors. Nothing here blocks without a limit, and `receive`, `send` and
// `poll` make nothing that a garbage collector would have to take away.
#pragma once

#include <node_api.h>

namespace gpunvme {

napi_value Listen(napi_env env, napi_callback_info info);
// -1 where nobody waits.
napi_value Accept(napi_env env, napi_callback_info info);
napi_value Connect(napi_env env, napi_callback_info info);
napi_value Receive(napi_env env, napi_callback_info info);
napi_value Send(napi_env env, napi_callback_info info);
napi_value Poll(napi_env env, napi_callback_info info);

}  // namespace gpunvme
