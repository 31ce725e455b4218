// What the addon keeps for one environment: the main thread has one, and every worker.
#pragma once

#include <node_api.h>

#include <memory>
#include <unordered_set>

#include "region.h"
#include "waits.h"

namespace gpunvme {

struct Environment;

// The memory of an ArrayBuffer over a region: V8's backing store, which `transfer()` and byte streams move from one
// ArrayBuffer to another. The runtime finalizes it some time after the last of them is collected.
struct TrackedView {
  std::shared_ptr<Environment> environment;
  // nullptr after DetachViews has detached the ArrayBuffer and released its reference.
  Region* region;
  // The ArrayBuffer that it was created for.
  napi_ref buffer;
};

// A referenced ArrayBuffer that is newer than all views, so that the runtime finalizes it first when the environment ends.
struct Sentinel {
  std::shared_ptr<Environment> environment;
  napi_ref buffer = nullptr;
  uint8_t byte = 0;
};

struct Environment {
  std::unordered_set<TrackedView*> views;
  // Regions that were mapped here and are not unmapped yet.
  std::unordered_set<Region*> owned;
  Waits waits;
  // The newest sentinel.
  Sentinel* sentinel = nullptr;
};

void CreateEnvironment(napi_env env);
std::shared_ptr<Environment> EnvironmentOf(napi_env env);

// Creates an ArrayBuffer over part of a region. The ArrayBuffer's memory takes over one of the caller's references.
napi_value CreateView(napi_env env, Region* region, uint8_t* start, size_t length);

// Detaches the ArrayBuffers of this environment over the region, and releases their references. Memory that was moved to
// another ArrayBuffer keeps its reference, and with it the mapping, until it is finalized.
void DetachViews(napi_env env, Environment& environment, Region* region);

}  // namespace gpunvme
