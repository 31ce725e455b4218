// What the addon keeps for one environment: the main thread has one, and every worker.
#pragma once

#include <node_api.h>

#include <memory>
#include <unordered_set>

#include "region.h"
#include "waits.h"

namespace gpunvme {

struct Environment;

// An ArrayBuffer over a region. It outlives its use: the runtime gives it back some time after that.
struct TrackedView {
  std::shared_ptr<Environment> environment;
  // nullptr when its ArrayBuffer was detached, and its reference given up with it.
  Region* region;
  napi_ref buffer;
};

struct Environment {
  std::unordered_set<TrackedView*> views;
  // Regions that were mapped here and are not unmapped yet.
  std::unordered_set<Region*> owned;
  Waits waits;
};

void CreateEnvironment(napi_env env);
std::shared_ptr<Environment> EnvironmentOf(napi_env env);

// A new ArrayBuffer over part of a region that the caller holds a reference of, which goes over to the ArrayBuffer.
napi_value CreateView(napi_env env, Region* region, uint8_t* start, size_t length);

// Empties all ArrayBuffers of this environment over the region, and lets go of it.
void DetachViews(napi_env env, Environment& environment, Region* region);

}  // namespace gpunvme
