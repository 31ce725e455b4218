// Engines for JavaScript: handles, and functions that take them. Both addons export these functions, each with its own
// executor. Callers are this package's classes, which check their arguments; here everything is checked that could
// crash the process.
#pragma once

#include <node_api.h>

#include <memory>

#include "executor.h"

namespace gpunvme {

// Creates an engine on an executor. options: { lingerNs, runLimitNs, clock }; onWake: a function without arguments.
napi_value CreateEngine(napi_env env, std::shared_ptr<Executor> executor, napi_value options, napi_value on_wake);

// Adds the functions of engines to what an addon exports.
bool ExportEngineFunctions(napi_env env, napi_value exports);

// Throws a problem as an Error with `call`, `result`, `resultCode`, `description` and `dead`.
void ThrowProblem(napi_env env, const Problem& problem);

}  // namespace gpunvme
