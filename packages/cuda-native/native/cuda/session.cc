#include "../values.h"
#include "calls.h"
#include "state.h"

namespace gpunvme::cuda {

napi_value Open(napi_env env, napi_callback_info info) {
  napi_value arguments[2];
  Arguments(env, info, arguments);
  const Functions* api = LoadedFunctions(env, arguments[0]);
  double ordinal;
  if (api == nullptr || !ReadInteger(env, arguments[1], "device", 0, INT32_MAX, &ordinal)) return nullptr;
  const std::string attempt = "Opening GPU " + std::to_string(static_cast<int>(ordinal));
  Device device;
  Context context;
  if (!Check(env, *api, Initialize(*api), "cuInit", attempt)) return nullptr;
  if (!Check(env, *api, api->cuDeviceGet(&device, static_cast<int>(ordinal)), "cuDeviceGet", attempt)) return nullptr;
  const Result retained = api->cuDevicePrimaryCtxRetain(&context, device);
  if (!Check(env, *api, retained, "cuDevicePrimaryCtxRetain", attempt)) return nullptr;
  const Result entered = api->cuCtxSetCurrent(context);
  if (entered != kSuccess) {
    api->cuDevicePrimaryCtxRelease_v2(device);
    Check(env, *api, entered, "cuCtxSetCurrent", attempt);
    return nullptr;
  }
  State& state = StateOf(env);
  const uint64_t handle = state.nextHandle++;
  auto* session = new Session{*api, static_cast<int>(ordinal), device, context, handle};
  session->parking = state.parking.try_emplace(session->ordinal, session->parking).first->second;
  state.sessions.emplace(handle, session);
  return Number(env, static_cast<double>(handle));
}

napi_value IsIdle(napi_env env, napi_callback_info info) {
  napi_value arguments[1], result;
  Arguments(env, info, arguments);
  const Session* session = SessionOf(env, arguments[0]);
  if (session == nullptr) return nullptr;
  const bool busy = IsBusy(StateOf(env), *session);
  napi_get_boolean(env, session->IsDead() || (session->holds == 0 && !busy), &result);
  return result;
}

napi_value HasWork(napi_env env, napi_callback_info info) {
  napi_value arguments[1], result;
  Arguments(env, info, arguments);
  const Session* session = SessionOf(env, arguments[0]);
  if (session == nullptr) return nullptr;
  const bool busy = IsBusy(StateOf(env), *session);
  napi_get_boolean(env, busy && !session->IsDead(), &result);
  return result;
}

// Never throws a CUDA error: a context that cannot be made current may be dead, which its streams report.
napi_value IsDead(napi_env env, napi_callback_info info) {
  napi_value arguments[1], result;
  Arguments(env, info, arguments);
  const Session* session = OpenSessionOf(env, arguments[0]);
  if (session == nullptr) return nullptr;
  session->Note(session->Enter(), "cuCtxSetCurrent");
  static_cast<void>(IsBusy(StateOf(env), *session));
  napi_get_boolean(env, session->IsDead(), &result);
  return result;
}

// Frees everything, even if a step fails. For a dead context, returns the error that made it unusable, and does not
// throw further ones.
napi_value Close(napi_env env, napi_callback_info info) {
  napi_value arguments[1];
  Arguments(env, info, arguments);
  double number;
  if (!ReadInteger(env, arguments[0], "cuda", 1, kMaxSafeInteger, &number)) return nullptr;
  State& state = StateOf(env);
  const auto found = state.sessions.find(static_cast<uint64_t>(number));
  if (found == state.sessions.end()) return nullptr;
  Session& session = *found->second;
  Failure first;
  const Result entered = session.Note(session.Enter(), "cuCtxSetCurrent");
  if (entered != kSuccess) first = {entered, "cuCtxSetCurrent"};
  const bool busy = IsBusy(state, session);
  if (!session.IsDead() && (session.holds > 0 || busy)) {
    napi_throw_type_error(env, "ERR_GPUNVME_CUDA_BUSY", "cuda: expected an idle GPU, got one with work");
    return nullptr;
  }
  // A separate reference, since the session's own is released first.
  const std::shared_ptr<Parking> parking = session.parking;
  const Parked parked(*parking);
  if (!CheckParked(env, parked, "cuDevicePrimaryCtxRelease_v2")) return nullptr;
  const Failure undone = EndSession(env, state, session);
  if (first.result == kSuccess) first = undone;
  const Functions& api = session.api;
  const Failure death = {session.death, session.deathCall};
  if (session.closed) static_cast<void>(found->second.release());
  state.sessions.erase(found);
  if (death.result != kSuccess) return CallError(env, api, death.result, death.call, "Work on the GPU");
  Check(env, api, first.result, first.call, "Closing the GPU");
  return nullptr;
}

napi_value Limits(napi_env env, napi_callback_info info) {
  napi_value arguments[1], result, hasTimeLimit;
  Arguments(env, info, arguments);
  const Session* session = SessionOf(env, arguments[0]);
  if (session == nullptr) return nullptr;
  int limited = 0;
  const Result asked = session->api.cuDeviceGetAttribute(&limited, kAttributeTimeLimit, session->device);
  if (!Check(env, session->api, asked, "cuDeviceGetAttribute", "Querying the time limit of kernels")) return nullptr;
  napi_create_object(env, &result);
  napi_get_boolean(env, limited != 0, &hasTimeLimit);
  napi_set_named_property(env, result, "connections", Number(env, Connections()));
  napi_set_named_property(env, result, "hasTimeLimit", hasTimeLimit);
  return result;
}

}  // namespace gpunvme::cuda
