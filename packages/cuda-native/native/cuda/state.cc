#include "state.h"

#include "../values.h"

namespace gpunvme::cuda {

namespace {

// Ends the environment's sessions. Memory that a GPU may still write to stays until the process ends, since nothing can
// wait for the GPU any more.
void EndState(void* data) {
  auto& state = *static_cast<State*>(data);
  for (auto& [handle, session] : state.sessions) {
    const bool entered = session->Note(session->Enter(), "cuCtxSetCurrent") == kSuccess;
    if (session->holds == 0 && (entered || session->IsDead()) && !IsBusy(state, *session)) {
      EndSession(nullptr, state, *session);
    } else {
      // An engine may still use it when it is collected.
      static_cast<void>(session.release());
    }
  }
  state.sessions.clear();
}

const char* NameOf(Kind kind) {
  switch (kind) {
    case Kind::kGraph: return "an open graph";
    case Kind::kKernels: return "loaded kernels";
    case Kind::kRegistration: return "registered memory";
    case Kind::kPinned: return "allocated pinned memory";
    case Kind::kDevice: return "allocated GPU memory";
    case Kind::kStream: return "an open stream";
  }
  return "";
}

Failure Try(Result result, const char* call) {
  return result == kSuccess ? Failure{} : Failure{result, call};
}

}  // namespace

void CreateState(napi_env env) {
  auto* state = new State;
  napi_set_instance_data(env, state, [](napi_env, void* data, void*) { delete static_cast<State*>(data); }, nullptr);
  napi_add_env_cleanup_hook(env, EndState, state);
}

State& StateOf(napi_env env) {
  void* data = nullptr;
  napi_get_instance_data(env, &data);
  return *static_cast<State*>(data);
}

bool IsBusy(const State& state, const Session& session) {
  for (const auto& [handle, resource] : state.resources) {
    if (resource.session != &session || resource.kind != Kind::kStream) continue;
    const Result answer = session.Note(session.api.cuStreamQuery(resource.stream), "cuStreamQuery");
    if (answer == kErrorNotReady) return true;
  }
  return false;
}

void Drop(Session& session) {
  if (--session.holds > 0 || !session.closed) return;
  // The last holder releases the context.
  session.api.cuCtxSetCurrent(nullptr);
  session.api.cuDevicePrimaryCtxRelease_v2(session.device);
  delete &session;
}

Session* OpenSessionOf(napi_env env, napi_value handle) {
  double number;
  if (!ReadInteger(env, handle, "cuda", 1, kMaxSafeInteger, &number)) return nullptr;
  State& state = StateOf(env);
  const auto found = state.sessions.find(static_cast<uint64_t>(number));
  if (found == state.sessions.end()) {
    napi_throw_type_error(env, "ERR_GPUNVME_CUDA_CLOSED", "cuda: expected an open GPU, got a closed one");
    return nullptr;
  }
  return found->second.get();
}

Session* SessionOf(napi_env env, napi_value handle) {
  Session* session = OpenSessionOf(env, handle);
  if (session == nullptr) return nullptr;
  return Check(env, session->api, session->Enter(), "cuCtxSetCurrent", "Using the GPU") ? session : nullptr;
}

Resource* ResourceOf(napi_env env, napi_value handle, Kind kind, const char* name) {
  double number;
  if (!ReadInteger(env, handle, name, 1, kMaxSafeInteger, &number)) return nullptr;
  State& state = StateOf(env);
  const auto found = state.resources.find(static_cast<uint64_t>(number));
  if (found == state.resources.end() || found->second.kind != kind) {
    const std::string message = std::string(name) + ": expected " + NameOf(kind) + ", got a freed handle";
    napi_throw_type_error(env, "ERR_GPUNVME_CUDA_FREED", message.c_str());
    return nullptr;
  }
  const Session& session = *found->second.session;
  return Check(env, session.api, session.Enter(), "cuCtxSetCurrent", "Using the GPU") ? &found->second : nullptr;
}

napi_value Keep(napi_env env, const Resource& resource) {
  State& state = StateOf(env);
  const uint64_t handle = state.nextHandle++;
  state.resources.emplace(handle, resource);
  return Number(env, static_cast<double>(handle));
}

Failure Undo(napi_env env, Resource& resource) {
  const Functions& api = resource.session->api;
  switch (resource.kind) {
    case Kind::kGraph: return Try(api.cuGraphExecDestroy(resource.graph), "cuGraphExecDestroy");
    case Kind::kKernels: return Try(api.cuModuleUnload(resource.module), "cuModuleUnload");
    case Kind::kRegistration: return Try(api.cuMemHostUnregister(resource.host), "cuMemHostUnregister");
    case Kind::kPinned: {
      // Detaches the ArrayBuffer before its memory is freed. Without `env`, no JavaScript runs any more.
      napi_value buffer = nullptr;
      if (env != nullptr && resource.buffer != nullptr) {
        napi_get_reference_value(env, resource.buffer, &buffer);
        if (buffer != nullptr) napi_detach_arraybuffer(env, buffer);
        napi_delete_reference(env, resource.buffer);
      }
      return Try(api.cuMemFreeHost(resource.host), "cuMemFreeHost");
    }
    case Kind::kDevice: return Try(api.cuMemFree_v2(resource.device), "cuMemFree_v2");
    case Kind::kStream: return Try(api.cuStreamDestroy_v2(resource.stream), "cuStreamDestroy_v2");
  }
  return {};
}

Failure EndSession(napi_env env, State& state, Session& session) {
  Failure first;
  const auto note = [&](const Failure& failure) {
    session.Note(failure.result, failure.call);
    if (first.result == kSuccess) first = failure;
  };
  for (const Kind kind :
       {Kind::kGraph, Kind::kKernels, Kind::kRegistration, Kind::kPinned, Kind::kDevice, Kind::kStream}) {
    for (auto each = state.resources.begin(); each != state.resources.end();) {
      Resource& resource = each->second;
      if (resource.session != &session || resource.kind != kind) {
        ++each;
        continue;
      }
      note(Undo(env, resource));
      each = state.resources.erase(each);
    }
  }
  // Remaining holders of a dead context free their resources, and the last one the context.
  session.closed = session.holds > 0;
  if (session.closed) return first;
  note(Try(session.api.cuCtxSetCurrent(nullptr), "cuCtxSetCurrent"));
  note(Try(session.api.cuDevicePrimaryCtxRelease_v2(session.device), "cuDevicePrimaryCtxRelease_v2"));
  return first;
}

}  // namespace gpunvme::cuda
