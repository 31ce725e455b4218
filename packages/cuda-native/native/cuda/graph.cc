// CUDA graphs: a stream's launches, recorded once and replayed by one call.
#include "../values.h"
#include "calls.h"
#include "state.h"

namespace gpunvme::cuda {

// (stream): records launches in the stream from now on, instead of running them.
napi_value BeginCapture(napi_env env, napi_callback_info info) {
  napi_value arguments[1];
  Arguments(env, info, arguments);
  const Resource* stream = ResourceOf(env, arguments[0], Kind::kStream, "stream");
  if (stream == nullptr) return nullptr;
  const Functions& api = stream->session->api;
  const Result begun = api.cuStreamBeginCapture_v2(stream->stream, kCaptureThreadLocal);
  Check(env, api, begun, "cuStreamBeginCapture_v2", "Recording a graph");
  return nullptr;
}

// (stream): ends the recording, and discards it.
napi_value DiscardCapture(napi_env env, napi_callback_info info) {
  napi_value arguments[1];
  Arguments(env, info, arguments);
  const Resource* stream = ResourceOf(env, arguments[0], Kind::kStream, "stream");
  if (stream == nullptr) return nullptr;
  const Functions& api = stream->session->api;
  Graph graph = nullptr;
  // A failed call in the recording has invalidated it, and the caller throws that call's error.
  const Result ended = api.cuStreamEndCapture(stream->stream, &graph);
  if (ended == kErrorCaptureInvalidated) return nullptr;
  if (!Check(env, api, ended, "cuStreamEndCapture", "Recording a graph")) return nullptr;
  if (graph != nullptr) Check(env, api, api.cuGraphDestroy(graph), "cuGraphDestroy", "Recording a graph");
  return nullptr;
}

// (stream): ends the recording; returns the graph, ready to launch.
napi_value EndCapture(napi_env env, napi_callback_info info) {
  napi_value arguments[1];
  Arguments(env, info, arguments);
  const Resource* stream = ResourceOf(env, arguments[0], Kind::kStream, "stream");
  if (stream == nullptr) return nullptr;
  Session* session = stream->session;
  const Functions& api = session->api;
  Graph graph = nullptr;
  const Result ended = api.cuStreamEndCapture(stream->stream, &graph);
  if (!Check(env, api, ended, "cuStreamEndCapture", "Recording a graph")) return nullptr;
  Resource resource{Kind::kGraph, session};
  {
    const Parked parked(*session->parking);
    if (!CheckParked(env, parked, "cuGraphInstantiateWithFlags")) {
      api.cuGraphDestroy(graph);
      return nullptr;
    }
    const Result made = api.cuGraphInstantiateWithFlags(&resource.graph, graph, 0);
    const Result destroyed = api.cuGraphDestroy(graph);
    if (!Check(env, api, made, "cuGraphInstantiateWithFlags", "Preparing a graph")) return nullptr;
    if (destroyed != kSuccess) {
      Undo(env, resource);
      Check(env, api, destroyed, "cuGraphDestroy", "Preparing a graph");
      return nullptr;
    }
  }
  return Keep(env, resource);
}

// (graph, stream)
napi_value LaunchGraph(napi_env env, napi_callback_info info) {
  napi_value arguments[2];
  Arguments(env, info, arguments);
  const Resource* graph = ResourceOf(env, arguments[0], Kind::kGraph, "graph");
  const Resource* stream = graph == nullptr ? nullptr : ResourceOf(env, arguments[1], Kind::kStream, "stream");
  if (stream == nullptr) return nullptr;
  const Functions& api = stream->session->api;
  Check(env, api, api.cuGraphLaunch(graph->graph, stream->stream), "cuGraphLaunch", "Launching a graph");
  return nullptr;
}

}  // namespace gpunvme::cuda
