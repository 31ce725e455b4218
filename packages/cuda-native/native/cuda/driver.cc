#include "driver.h"

#include <dlfcn.h>

#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>

namespace gpunvme::cuda {

namespace {

struct Opened {
  Functions functions{};
  std::vector<std::string> missing;
};

// Never destroyed: a thread of an engine may still call into the driver while the process runs its exit handlers.
struct Table {
  std::mutex mutex;
  std::map<std::string, std::unique_ptr<Opened>> libraries;
  // Read before the first cuInit: the driver does not read it again.
  int connections = 0;
};

// CUDA Programming Guide: the variable is 1 to 32; default 8.
int AskForConnections() {
  constexpr const char* kVariable = "CUDA_DEVICE_MAX_CONNECTIONS";
  constexpr int kMost = 32, kUsual = 8;
  setenv(kVariable, "32", 0);
  const char* text = getenv(kVariable);
  const int number = text == nullptr ? 0 : std::atoi(text);
  return number >= 1 && number <= kMost ? number : kUsual;
}

Table& TheTable() {
  static Table* const table = new Table;
  return *table;
}

std::unique_ptr<Opened> Resolve(void* library) {
  auto opened = std::make_unique<Opened>();
#define GPUNVME_RESOLVE(name, parameters) \
  opened->functions.name = reinterpret_cast<decltype(opened->functions.name)>(dlsym(library, #name));
#define GPUNVME_REQUIRE(name, parameters) \
  if (opened->functions.name == nullptr) opened->missing.push_back(#name);
  GPUNVME_CUDA_FUNCTIONS(GPUNVME_RESOLVE)
  GPUNVME_CUDA_FUNCTIONS(GPUNVME_REQUIRE)
  GPUNVME_CUDA_OPTIONAL_FUNCTIONS(GPUNVME_RESOLVE)
#undef GPUNVME_REQUIRE
#undef GPUNVME_RESOLVE
  return opened;
}

}  // namespace

Result Initialize(const Functions& api) {
  Table& table = TheTable();
  {
    // Under the lock: the environment belongs to the whole process.
    const std::lock_guard<std::mutex> lock(table.mutex);
    setenv("CUDA_MODULE_LOADING", "EAGER", 0);
    if (table.connections == 0) table.connections = AskForConnections();
  }
  return api.cuInit(0);
}

int Connections() {
  Table& table = TheTable();
  const std::lock_guard<std::mutex> lock(table.mutex);
  return table.connections;
}

bool IsDeath(Result result, const char* call) {
  switch (result) {
    case kErrorEccUncorrectable:
    case kErrorContained:
    case kErrorIllegalAddress:
    case kErrorLaunchTimeout:
    case kErrorAssert:
    case kErrorHardwareStack:
    case kErrorIllegalInstruction:
    case kErrorMisalignedAddress:
    case kErrorInvalidAddressSpace:
    case kErrorInvalidPc:
    case kErrorLaunchFailed:
    case kErrorTensorMemoryLeak: return true;
    case kErrorUnknown:
      for (const char* question : {"cuStreamQuery", "cuEventQuery", "cuStreamSynchronize"}) {
        if (std::strcmp(call, question) == 0) return true;
      }
      return false;
    default: return false;
  }
}

Library LoadLibrary(const std::vector<std::string>& paths) {
  Table& table = TheTable();
  const std::lock_guard<std::mutex> lock(table.mutex);
  Library result;
  for (const std::string& path : paths) {
    auto& opened = table.libraries[path];
    if (opened == nullptr) {
      // LOCAL: its symbols must not affect other libraries. LAZY: missing dependencies show at their first use.
      void* library = dlopen(path.c_str(), RTLD_LAZY | RTLD_LOCAL);
      if (library == nullptr) {
        const char* reason = dlerror();
        result.tried.push_back({path, reason == nullptr ? "unknown reason" : reason});
        continue;
      }
      opened = Resolve(library);
    }
    result.path = path;
    result.missing = opened->missing;
    if (opened->missing.empty()) result.functions = &opened->functions;
    return result;
  }
  return result;
}

}  // namespace gpunvme::cuda
