#include "cuda_engine.h"

#include <memory>

#include "../cuda/session.h"
#include "cuda_executor.h"
#include "engine_api.h"
#include "values.h"

namespace gpunvme {

napi_value CreateCudaEngine(napi_env env, napi_callback_info info) {
  napi_value arguments[3];
  Arguments(env, info, arguments);
  cuda::Session* session = cuda::SessionOf(env, arguments[0]);
  if (session == nullptr) return nullptr;
  const cuda::Function serve = cuda::KernelOf(env, *session, "gpunvme_serve");
  if (serve == nullptr) return nullptr;
  return CreateEngine(env, std::make_shared<CudaExecutor>(*session, serve), arguments[1], arguments[2]);
}

}  // namespace gpunvme
