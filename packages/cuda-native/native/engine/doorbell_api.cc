#include "doorbell_api.h"

#include <memory>
#include <utility>
#include <vector>

#include "doorbell_proxy.h"
#include "engine_api.h"
#include "handles.h"
#include "values.h"

namespace gpunvme {

namespace {

constexpr size_t kWordsPerDoorbell = 3;

bool ReadDoorbells(napi_env env, napi_value value, const char* name, std::vector<DoorbellProxy::Doorbell>* doorbells) {
  napi_typedarray_type type;
  size_t length = 0;
  void* data = nullptr;
  const napi_status read = napi_get_typedarray_info(env, value, &type, &length, &data, nullptr, nullptr);
  if (read != napi_ok || type != napi_biguint64_array || length == 0 || length % kWordsPerDoorbell != 0) {
    ThrowType(env, name, "a BigUint64Array of three elements per doorbell", value);
    return false;
  }
  const auto* words = static_cast<const uint64_t*>(data);
  for (size_t at = 0; at < length; at += kWordsPerDoorbell) {
    doorbells->push_back({reinterpret_cast<const uint32_t*>(static_cast<uintptr_t>(words[at])),
                          reinterpret_cast<uint32_t*>(static_cast<uintptr_t>(words[at + 1])),
                          static_cast<uint32_t>(words[at + 2])});
  }
  return true;
}

// Registers may be unmapped while the environment ends.
void StopAtExit(void* proxy) { static_cast<DoorbellProxy*>(proxy)->Stop(false); }

}  // namespace

napi_value StartDoorbells(napi_env env, napi_callback_info info) {
  napi_value arguments[2];
  Arguments(env, info, arguments);
  std::vector<DoorbellProxy::Doorbell> tails, heads;
  if (!ReadDoorbells(env, arguments[0], "tails", &tails)) return nullptr;
  if (!ReadDoorbells(env, arguments[1], "heads", &heads)) return nullptr;
  auto proxy = std::make_unique<DoorbellProxy>();
  if (const Problem problem = proxy->Start(std::move(tails), std::move(heads))) {
    ThrowProblem(env, problem);
    return nullptr;
  }
  napi_add_env_cleanup_hook(env, StopAtExit, proxy.get());
  return Handles<DoorbellProxy>::Create(env, proxy.release(), [](napi_env of, DoorbellProxy* forgotten) {
    napi_remove_env_cleanup_hook(of, StopAtExit, forgotten);
    delete forgotten;
  });
}

napi_value StopDoorbells(napi_env env, napi_callback_info info) {
  napi_value arguments[1];
  Arguments(env, info, arguments);
  auto* proxy = Handles<DoorbellProxy>::Of(env, arguments[0], "doorbells", "a handle of startDoorbells");
  if (proxy != nullptr) proxy->Stop(true);
  return nullptr;
}

}  // namespace gpunvme
