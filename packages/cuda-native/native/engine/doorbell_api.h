// Doorbell forwarding for JavaScript, for queues that no engine serves: kernels of the caller write doorbell values to host
// memory, and a thread copies them to the controller's registers.
#pragma once

#include <node_api.h>

namespace gpunvme {

// (BigUint64Array tails, BigUint64Array heads) -> a handle. Each doorbell has three elements: the address of its word, the
// address of its register, and their current value.
napi_value StartDoorbells(napi_env env, napi_callback_info info);

// (handle): forwards doorbells that were rung before the call, and ends the thread. Has no effect if it has ended.
napi_value StopDoorbells(napi_env env, napi_callback_info info);

}  // namespace gpunvme
