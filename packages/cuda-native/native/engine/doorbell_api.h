// Forwarding of doorbells for JavaScript, for queues that are not an engine's: kernels of the caller ring words in host
// memory, which a thread copies to the controller's registers.
#pragma once

#include <node_api.h>

namespace gpunvme {

// (BigUint64Array tails, BigUint64Array heads) -> a handle. Each doorbell has three elements: the address of its word, the
// address of its register, and the value that both have.
napi_value StartDoorbells(napi_env env, napi_callback_info info);

// (handle): forwards doorbells that were rung before the call, and ends the thread. Harmless if it has ended.
napi_value StopDoorbells(napi_env env, napi_callback_info info);

}  // namespace gpunvme
