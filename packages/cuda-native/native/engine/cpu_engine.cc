#include "cpu_engine.h"

#include <memory>

#include "cpu_executor.h"
#include "engine_api.h"
#include "values.h"

namespace gpunvme {

napi_value CreateCpuEngine(napi_env env, napi_callback_info info) {
  napi_value arguments[2];
  Arguments(env, info, arguments);
  return CreateEngine(env, std::make_shared<CpuExecutor>(), arguments[0], arguments[1]);
}

}  // namespace gpunvme
