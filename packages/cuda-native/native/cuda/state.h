// What the addon keeps for one environment: the main thread has one, and every worker. JavaScript holds numbers, which
// are never used twice: one that was freed, or made up, is found here not to be there.
#pragma once

#include <node_api.h>

#include <map>
#include <memory>
#include <string>

#include "session.h"
#include "watcher.h"

namespace gpunvme::cuda {

// In the order in which `close` undoes them: what others refer to comes last.
enum class Kind { kKernels, kRegistration, kPinned, kDevice, kStream };

// What was made in a session and is to be undone exactly once.
struct Resource {
  Kind kind;
  Session* session;
  size_t length = 0;
  uint8_t* host = nullptr;
  DevicePointer device = 0;
  Stream stream = nullptr;
  Module module = nullptr;
  // All of the module's, found and loaded when it was: the driver is not asked for one while others may run.
  std::map<std::string, Function> functions = {};
  // The ArrayBuffer over pinned memory, where JavaScript has asked for one; it does not keep it.
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
  // By the GPU's ordinal: contexts of sessions are the same where their GPU is.
  std::map<int, std::shared_ptr<Parking>> parking;
  Watcher watcher;
};

void CreateState(napi_env env);
State& StateOf(napi_env env);

// Whether work is under way in the session: nothing that it uses may go.
bool IsBusy(const State& state, const Session& session);

// A resource of that kind, in whose session the thread then is; nullptr where it threw. `name` is the argument's.
Resource* ResourceOf(napi_env env, napi_value handle, Kind kind, const char* name);

// The functions of a library that `load` found complete, by its path; nullptr where it threw.
const Functions* LoadedFunctions(napi_env env, napi_value path);

// Undoes all of a session, in the right order, whatever fails. `first` is the first failure.
struct Failure {
  Result result = kSuccess;
  const char* call = "";
};
Failure EndSession(napi_env env, State& state, Session& session);

// Undoes one resource. The caller takes it out of the table.
Failure Undo(napi_env env, Resource& resource);

// Where a part of GPU memory is that is inside of it; false where it threw.
bool ReadPart(napi_env env, const Resource& memory, napi_value offsetBytes, napi_value lengthBytes,
              DevicePointer* pointer, size_t* length);

}  // namespace gpunvme::cuda
