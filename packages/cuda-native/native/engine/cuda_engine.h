#pragma once

#include <node_api.h>

namespace gpunvme {

// (cuda, options, onWake) -> an engine whose leaders are kernels on that GPU. Call loadKernels before.
napi_value CreateCudaEngine(napi_env env, napi_callback_info info);

}  // namespace gpunvme
