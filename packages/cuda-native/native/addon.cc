// gpunvme_host: kernel interfaces for drivers in user space, checksums of memory, reads of files, and the engine whose
// device code runs on CPU threads. Every thread that loads it gets its own functions; all of them share the same memory.
#include <node_api.h>

#include "checksum.h"
#include "cpu_engine.h"
#include "engine_api.h"
#include "environment.h"
#include "memory.h"
#include "received.h"
#include "sockets.h"
#include "system.h"

namespace {

struct Entry {
  const char* name;
  napi_callback function;
};

constexpr Entry kEntries[] = {
    {"map", gpunvme::Map},
    {"mapForeign", gpunvme::MapForeign},
    {"lostForeignBytes", gpunvme::LostForeignBytes},
    {"neverWaits", gpunvme::NeverWaits},
    {"closeReceived", gpunvme::CloseReceived},
    {"allocate", gpunvme::Allocate},
    {"unmap", gpunvme::Unmap},
    {"address", gpunvme::Address},
    {"length", gpunvme::Length},
    {"buffer", gpunvme::Buffer},
    {"view", gpunvme::View},
    {"load32", gpunvme::Load32},
    {"store32", gpunvme::Store32},
    {"load64", gpunvme::Load64},
    {"store64", gpunvme::Store64},
    {"yield", gpunvme::Yield},
    {"ioctl", gpunvme::Ioctl},
    {"ioctlNumber", gpunvme::IoctlNumber},
    {"eventfd", gpunvme::Eventfd},
    {"signalEventfd", gpunvme::SignalEventfd},
    {"drainEventfd", gpunvme::DrainEventfd},
    {"move", gpunvme::Move},
    {"waitReadable", gpunvme::WaitReadable},
    {"memlockLimitBytes", gpunvme::MemlockLimitBytes},
    {"punchHole", gpunvme::PunchHole},
    {"listen", gpunvme::Listen},
    {"accept", gpunvme::Accept},
    {"connect", gpunvme::Connect},
    {"receive", gpunvme::Receive},
    {"send", gpunvme::Send},
    {"poll", gpunvme::Poll},
    {"checksum", gpunvme::Checksum},
    {"checksumWay", gpunvme::ChecksumWay},
    {"readFile", gpunvme::ReadFile},
    {"createEngine", gpunvme::CreateCpuEngine},
};

}  // namespace

NAPI_MODULE_INIT() {
  gpunvme::CreateEnvironment(env);
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
