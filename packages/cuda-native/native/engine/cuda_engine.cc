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
  bool warp = false;
  napi_value option = nullptr;
  const bool given = napi_get_named_property(env, arguments[1], "warp", &option) == napi_ok;
  if (!given || napi_get_value_bool(env, option, &warp) != napi_ok) {
    ThrowType(env, "warp", "a boolean", option);
    return nullptr;
  }
  // After the options were read, whose getters may close the session.
  cuda::Session* session = cuda::SessionOf(env, arguments[0]);
  if (session == nullptr) return nullptr;
  const cuda::Function serve = cuda::KernelOf(env, *session, warp ? "gpunvme_warp_read" : "gpunvme_serve");
  if (serve == nullptr) return nullptr;
  auto executor = std::make_shared<CudaExecutor>(*session, serve, warp ? 32 : 1);
  return CreateEngine(env, std::move(executor), arguments[1], arguments[2]);
}

}  // namespace gpunvme
