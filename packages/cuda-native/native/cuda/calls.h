// Functions for JavaScript. Handles are numbers, addresses BigInts. src/cuda/addon.ts documents each.
#pragma once

#include <node_api.h>

namespace gpunvme::cuda {

// library.cc
napi_value Errors(napi_env env, napi_callback_info info);
napi_value Load(napi_env env, napi_callback_info info);
napi_value Probe(napi_env env, napi_callback_info info);

// session.cc
napi_value Open(napi_env env, napi_callback_info info);
napi_value IsIdle(napi_env env, napi_callback_info info);
napi_value HasWork(napi_env env, napi_callback_info info);
napi_value IsDead(napi_env env, napi_callback_info info);
napi_value Close(napi_env env, napi_callback_info info);
napi_value Limits(napi_env env, napi_callback_info info);

// memory.cc
napi_value AllocPinned(napi_env env, napi_callback_info info);
napi_value AllocDevice(napi_env env, napi_callback_info info);
napi_value Register(napi_env env, napi_callback_info info);
napi_value Describe(napi_env env, napi_callback_info info);
napi_value Reachable(napi_env env, napi_callback_info info);
napi_value Buffer(napi_env env, napi_callback_info info);
napi_value ExportDmaBuf(napi_env env, napi_callback_info info);
napi_value FlushWrites(napi_env env, napi_callback_info info);
napi_value AddressOf(napi_env env, napi_callback_info info);
napi_value Free(napi_env env, napi_callback_info info);

// peer.cc
napi_value Peers(napi_env env, napi_callback_info info);
napi_value EnablePeer(napi_env env, napi_callback_info info);
napi_value DisablePeer(napi_env env, napi_callback_info info);
napi_value CopyPeer(napi_env env, napi_callback_info info);

// graph.cc
napi_value BeginCapture(napi_env env, napi_callback_info info);
napi_value DiscardCapture(napi_env env, napi_callback_info info);
napi_value EndCapture(napi_env env, napi_callback_info info);
napi_value LaunchGraph(napi_env env, napi_callback_info info);

// work.cc
napi_value LoadKernels(napi_env env, napi_callback_info info);
napi_value CreateStream(napi_env env, napi_callback_info info);
napi_value Launch(napi_env env, napi_callback_info info);
napi_value CopyIn(napi_env env, napi_callback_info info);
napi_value CopyOut(napi_env env, napi_callback_info info);
napi_value Fill(napi_env env, napi_callback_info info);
napi_value IsDone(napi_env env, napi_callback_info info);
napi_value Finished(napi_env env, napi_callback_info info);

}  // namespace gpunvme::cuda
