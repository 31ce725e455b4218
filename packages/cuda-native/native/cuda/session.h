// The GPU that JavaScript has opened: its primary context, what was made in it, and the way back from a failed call to an
// error with names. An engine takes a Session from the handle that its TypeScript face was given.
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
  // Who uses it beside JavaScript, as engines with leaders do: `close` is refused while there is any. Of the thread of
  // the environment alone.
  unsigned holds = 0;
  // The answer from which on nothing runs in its context any more, and the call that gave it first.
  mutable Result death = kSuccess;
  mutable const char* deathCall = "";
  // JavaScript has closed it after its death; it goes with the last hold.
  bool closed = false;

  // Remembers an answer that is the context's death; gives it back as it is.
  Result Note(Result result, const char* call) const {
    if (death == kSuccess && IsDeath(result, call)) {
      death = result;
      deathCall = call;
    }
    return result;
  }
  bool IsDead() const { return death != kSuccess; }

  // What runs on its GPU, of this environment: sessions of one GPU share it.
  std::shared_ptr<Parking> parking = std::make_shared<Parking>();

  // Makes its context that of the calling thread. Every thread has to, once, before it calls anything of `api`.
  Result Enter() const { return api.cuCtxSetCurrent(context); }
};

// Ends a hold. The session may be gone then.
void Drop(Session& session);

// The open session behind a handle, whose context is then that of this thread; nullptr where it threw.
Session* SessionOf(napi_env env, napi_value handle);

// The kernel of that name in what loadKernels loaded; nullptr where it threw. It lives as long as the session.
Function KernelOf(napi_env env, const Session& session, const char* name);

// True for success. Otherwise throws CudaCallError: `attempt` is what was being done, as "Launching gpunvme_serve", `call`
// the function's name; the driver's name and text of the error are looked up. `facts` are lines that say more.
bool Check(napi_env env, const Functions& api, Result result, const char* call, const std::string& attempt,
           const std::vector<std::string>& facts = {});

// True where everything rests. Otherwise throws CudaTimeoutError, in place of the call of that name.
bool CheckParked(napi_env env, const Parked& parked, const char* call);

// What Check throws as a value, for promises.
napi_value CallError(napi_env env, const Functions& api, Result result, const char* call, const std::string& attempt,
                     const std::vector<std::string>& facts = {});

}  // namespace gpunvme::cuda
