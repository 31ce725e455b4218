// Access of GPUs to each other's memory.
#include "../values.h"
#include "calls.h"
#include "state.h"

namespace gpunvme::cuda {

namespace {

// Attributes of a pair of GPUs, in the order of src/cuda/addon.ts.
constexpr int kAttributes[] = {kP2pAccessSupported, kP2pPerformanceRank, kP2pNativeAtomicSupported};

napi_value DescribePair(napi_env env, const Functions& api, int from, int to) {
  const char* attempt = "Querying access between GPUs";
  Device fromDevice, toDevice;
  if (!Check(env, api, api.cuDeviceGet(&fromDevice, from), "cuDeviceGet", attempt)) return nullptr;
  if (!Check(env, api, api.cuDeviceGet(&toDevice, to), "cuDeviceGet", attempt)) return nullptr;
  std::vector<napi_value> values = {Number(env, from), Number(env, to)};
  for (const int attribute : kAttributes) {
    int value = 0;
    const Result asked = api.cuDeviceGetP2PAttribute(&value, attribute, fromDevice, toDevice);
    if (!Check(env, api, asked, "cuDeviceGetP2PAttribute", attempt)) return nullptr;
    values.push_back(Number(env, value));
  }
  return Array(env, values);
}

// Reads (cuda, peer) and makes the first session's context current; false if it threw.
bool ReadPair(napi_env env, napi_callback_info info, Session** session, Session** peer) {
  napi_value arguments[2];
  Arguments(env, info, arguments);
  *peer = SessionOf(env, arguments[1]);
  *session = *peer == nullptr ? nullptr : SessionOf(env, arguments[0]);
  return *session != nullptr;
}

}  // namespace

// (path) -> for each pair of GPUs [from, to, attributes...]
napi_value Peers(napi_env env, napi_callback_info info) {
  napi_value arguments[1];
  Arguments(env, info, arguments);
  const Functions* api = LoadedFunctions(env, arguments[0]);
  int count = 0;
  if (api == nullptr || !Check(env, *api, Initialize(*api), "cuInit", "Starting the NVIDIA driver")) return nullptr;
  if (!Check(env, *api, api->cuDeviceGetCount(&count), "cuDeviceGetCount", "Querying the GPUs")) {
    return nullptr;
  }
  std::vector<napi_value> pairs;
  for (int from = 0; from < count; from++) {
    for (int to = 0; to < count; to++) {
      if (from == to) continue;
      napi_value pair = DescribePair(env, *api, from, to);
      if (pair == nullptr) return nullptr;
      pairs.push_back(pair);
    }
  }
  return Array(env, pairs);
}

// (cuda, peer): enables the first GPU to access the memory of the second -> whether this call changed it
napi_value EnablePeer(napi_env env, napi_callback_info info) {
  Session *session, *peer;
  if (!ReadPair(env, info, &session, &peer)) return nullptr;
  const Parked parked(*session->parking);
  if (!CheckParked(env, parked, "cuCtxEnablePeerAccess")) return nullptr;
  const Result enabled = session->api.cuCtxEnablePeerAccess(peer->context, 0);
  napi_value result;
  napi_get_boolean(env, enabled == kSuccess, &result);
  if (enabled == kErrorPeerAccessAlreadyEnabled) return result;
  const std::string attempt = "Enabling access of GPU " + std::to_string(session->ordinal) + " to the memory of GPU " +
                              std::to_string(peer->ordinal);
  return Check(env, session->api, enabled, "cuCtxEnablePeerAccess", attempt) ? result : nullptr;
}

// (cuda, peer)
napi_value DisablePeer(napi_env env, napi_callback_info info) {
  Session *session, *peer;
  if (!ReadPair(env, info, &session, &peer)) return nullptr;
  const Parked parked(*session->parking);
  if (!CheckParked(env, parked, "cuCtxDisablePeerAccess")) return nullptr;
  const Result disabled = session->api.cuCtxDisablePeerAccess(peer->context);
  Check(env, session->api, disabled, "cuCtxDisablePeerAccess", "Disabling access to the memory of another GPU");
  return nullptr;
}

// (stream, to, toBytes, from, fromBytes, lengthBytes): memory of two GPUs; the stream is of either.
napi_value CopyPeer(napi_env env, napi_callback_info info) {
  napi_value arguments[6];
  Arguments(env, info, arguments);
  const Resource* to = ResourceOf(env, arguments[1], Kind::kDevice, "to");
  const Resource* from = to == nullptr ? nullptr : ResourceOf(env, arguments[3], Kind::kDevice, "from");
  DevicePointer target, source;
  size_t length, sourceLength;
  if (from == nullptr || !ReadPart(env, *to, arguments[2], arguments[5], &target, &length)) return nullptr;
  if (!ReadPart(env, *from, arguments[4], arguments[5], &source, &sourceLength)) return nullptr;
  // Last, so that its context is current.
  const Resource* stream = ResourceOf(env, arguments[0], Kind::kStream, "stream");
  if (stream == nullptr) return nullptr;
  const Functions& api = stream->session->api;
  const Result copied = api.cuMemcpyPeerAsync(target, to->session->context, source, from->session->context, length,
                                              stream->stream);
  Check(env, api, copied, "cuMemcpyPeerAsync", "Copying from GPU to GPU");
  return nullptr;
}

}  // namespace gpunvme::cuda
