// Engines as JavaScript has them: handles, and functions that take them. Both addons have these functions, each with an
// executor of its own. The callers are the package's own classes, which have checked what they give; what is checked here
// is what would end the process.
#pragma once

#include <node_api.h>

#include <memory>

#include "executor.h"

namespace gpunvme {

// A new engine on that executor. options: { lingerNs, clock }, onWake: a function without arguments.
napi_value CreateEngine(napi_env env, std::shared_ptr<Executor> executor, napi_value options, napi_value on_wake);

// Adds the functions of engines to what an addon exports.
bool ExportEngineFunctions(napi_env env, napi_value exports);

// Throws what an executor answered: an Error whose `call`, `result` and message say it.
void ThrowProblem(napi_env env, const Problem& problem);

}  // namespace gpunvme
