// A GPU that JavaScript has opened: its primary context, its resources, and conversion of failed calls to errors.
// Engines get a Session from its handle.
#pragma once

#include <node_api.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "driver.h"
#include "parking.h"

namespace gpunvme::cuda {

struct Session {
  const Functions& api;
  const int ordinal;
  const Device device;
  const Context context;
  const uint64_t handle;
  // Number of users besides JavaScript, such as engines; `close` is refused while there are any. Used by the
  // environment's thread only.
  unsigned holds = 0;
  // The first result that made the context unusable, and its call.
  mutable Result death = kSuccess;
  mutable const char* deathCall = "";
  // JavaScript has closed it after its death; the last hold deletes it.
  bool closed = false;

  // Records a result that makes the context unusable; returns the result unchanged.
  Result Note(Result result, const char* call) const {
    if (death == kSuccess && IsDeath(result, call)) {
      death = result;
      deathCall = call;
    }
    return result;
  }
  bool IsDead() const { return death != kSuccess; }

  // The engines on its GPU in this environment; shared by all sessions of the GPU.
  std::shared_ptr<Parking> parking = std::make_shared<Parking>();

  // Makes its context current in the calling thread. Required once per thread before calls of `api`.
  Result Enter() const { return api.cuCtxSetCurrent(context); }
};

// Ends a hold. May delete the session.
void Drop(Session& session);

// Returns the open session of a handle and makes its context current; nullptr if it threw.
Session* SessionOf(napi_env env, napi_value handle);

// The same without making the context current, so that a dead one does not throw.
Session* OpenSessionOf(napi_env env, napi_value handle);

// Returns a kernel that loadKernels loaded; nullptr if it threw. It is valid as long as the session.
Function KernelOf(napi_env env, const Session& session, const char* name);

// Returns true for success; otherwise throws CudaCallError with the driver's name and text of the error. `attempt` is
// what was attempted, such as "Launching gpunvme_serve"; `call` the function's name; `facts` additional lines.
bool Check(napi_env env, const Functions& api, Result result, const char* call, const std::string& attempt,
           const std::vector<std::string>& facts = {});

// Returns true if all engines are paused; otherwise throws CudaTimeoutError for the call of that name.
bool CheckParked(napi_env env, const Parked& parked, const char* call);

// Returns the error that Check would throw, for promises.
napi_value CallError(napi_env env, const Functions& api, Result result, const char* call, const std::string& attempt,
                     const std::vector<std::string>& facts = {});

}  // namespace gpunvme::cuda
