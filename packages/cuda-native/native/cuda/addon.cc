// gpunvme_cuda: NVIDIA's driver API for JavaScript and for the engine. It is built and loaded without CUDA; the driver
// is looked for when it is needed.
#include <node_api.h>

#include "calls.h"
#include "cuda_engine.h"
#include "doorbell_api.h"
#include "engine_api.h"
#include "state.h"

namespace {

struct Entry {
  const char* name;
  napi_callback function;
};

constexpr Entry kEntries[] = {
    {"errors", gpunvme::cuda::Errors},
    {"load", gpunvme::cuda::Load},
    {"probe", gpunvme::cuda::Probe},
    {"open", gpunvme::cuda::Open},
    {"isIdle", gpunvme::cuda::IsIdle},
    {"hasWork", gpunvme::cuda::HasWork},
    {"isDead", gpunvme::cuda::IsDead},
    {"close", gpunvme::cuda::Close},
    {"limits", gpunvme::cuda::Limits},
    {"allocPinned", gpunvme::cuda::AllocPinned},
    {"allocDevice", gpunvme::cuda::AllocDevice},
    {"register", gpunvme::cuda::Register},
    {"describe", gpunvme::cuda::Describe},
    {"reachable", gpunvme::cuda::Reachable},
    {"buffer", gpunvme::cuda::Buffer},
    {"exportDmaBuf", gpunvme::cuda::ExportDmaBuf},
    {"flushWrites", gpunvme::cuda::FlushWrites},
    {"addressOf", gpunvme::cuda::AddressOf},
    {"free", gpunvme::cuda::Free},
    {"loadKernels", gpunvme::cuda::LoadKernels},
    {"createStream", gpunvme::cuda::CreateStream},
    {"launch", gpunvme::cuda::Launch},
    {"beginCapture", gpunvme::cuda::BeginCapture},
    {"discardCapture", gpunvme::cuda::DiscardCapture},
    {"endCapture", gpunvme::cuda::EndCapture},
    {"launchGraph", gpunvme::cuda::LaunchGraph},
    {"copyIn", gpunvme::cuda::CopyIn},
    {"copyOut", gpunvme::cuda::CopyOut},
    {"fill", gpunvme::cuda::Fill},
    {"peers", gpunvme::cuda::Peers},
    {"enablePeer", gpunvme::cuda::EnablePeer},
    {"disablePeer", gpunvme::cuda::DisablePeer},
    {"copyPeer", gpunvme::cuda::CopyPeer},
    {"isDone", gpunvme::cuda::IsDone},
    {"finished", gpunvme::cuda::Finished},
    {"createEngine", gpunvme::CreateCudaEngine},
    {"startDoorbells", gpunvme::StartDoorbells},
    {"stopDoorbells", gpunvme::StopDoorbells},
};

}  // namespace

NAPI_MODULE_INIT() {
  gpunvme::cuda::CreateState(env);
  for (const Entry& entry : kEntries) {
    napi_value function;
    if (napi_create_function(env, entry.name, NAPI_AUTO_LENGTH, entry.function, nullptr, &function) != napi_ok) {
      return nullptr;
    }
    napi_set_named_property(env, exports, entry.name, function);
  }
  if (!gpunvme::ExportEngineFunctions(env, exports)) return nullptr;
  return exports;
}
