#pragma once

#include <node_api.h>

namespace gpunvme {

// (options, onWake) -> an engine whose leaders are threads of this process
napi_value CreateCpuEngine(napi_env env, napi_callback_info info);

}  // namespace gpunvme
