// State of the addon for one environment: the main thread has one, and every worker. JavaScript holds numbers that are
// never reused, so freed and invented handles are detected.
#pragma once

#include <node_api.h>

#include <map>
#include <memory>
#include <string>

#include "session.h"
#include "watcher.h"

namespace gpunvme::cuda {

// In the order in which `close` frees them: resources that others refer to come last.
enum class Kind { kGraph, kKernels, kRegistration, kPinned, kDevice, kStream };

// A resource of a session, to be freed exactly once.
struct Resource {
  Kind kind;
  Session* session;
  size_t length = 0;
  uint8_t* host = nullptr;
  DevicePointer device = 0;
  Stream stream = nullptr;
  GraphExec graph = nullptr;
  Module module = nullptr;
  // All kernels of the module, loaded with it, so that none is loaded while another kernel runs.
  std::map<std::string, Function> functions = {};
  // Weak reference to the ArrayBuffer over pinned memory, if JavaScript has accessed it.
  napi_ref buffer = nullptr;
};

struct State {
  uint64_t nextHandle = 1;
  std::map<uint64_t, std::unique_ptr<Session>> sessions;
  std::map<uint64_t, Resource> resources;
  // The class CudaCallError.
  napi_ref callError = nullptr;
  // The class CudaTimeoutError.
  napi_ref timeoutError = nullptr;
  // By the GPU's ordinal: sessions of one GPU share its context.
  std::map<int, std::shared_ptr<Parking>> parking;
  Watcher watcher;
};

void CreateState(napi_env env);
State& StateOf(napi_env env);

// Returns whether work is in progress in the session, whose memory must not be freed.
bool IsBusy(const State& state, const Session& session);

// Returns a resource of a kind, and makes its session's context current; nullptr if it threw. `name` is the argument's
// name.
Resource* ResourceOf(napi_env env, napi_value handle, Kind kind, const char* name);

// Adds a resource to the table. Returns its handle.
napi_value Keep(napi_env env, const Resource& resource);

// Returns the functions of a library that `load` has loaded, by its path; nullptr if it threw.
const Functions* LoadedFunctions(napi_env env, napi_value path);

// Frees all resources of a session in order, even if a step fails. Returns the first failure.
struct Failure {
  Result result = kSuccess;
  const char* call = "";
};
Failure EndSession(napi_env env, State& state, Session& session);

// Frees one resource. The caller removes it from the table.
Failure Undo(napi_env env, Resource& resource);

// Reads a range inside GPU memory; false if it threw.
bool ReadPart(napi_env env, const Resource& memory, napi_value offsetBytes, napi_value lengthBytes,
              DevicePointer* pointer, size_t* length);

}  // namespace gpunvme::cuda
