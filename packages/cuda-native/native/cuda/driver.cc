#include "driver.h"

#include <dlfcn.h>

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
};

Table& TheTable() {
  static Table* const table = new Table;
  return *table;
}

std::unique_ptr<Opened> Resolve(void* library) {
  auto opened = std::make_unique<Opened>();
  const auto find = [&](const char* name) {
    void* symbol = dlsym(library, name);
    if (symbol == nullptr) opened->missing.push_back(name);
    return symbol;
  };
#define GPUNVME_RESOLVE(name, parameters) \
  opened->functions.name = reinterpret_cast<decltype(opened->functions.name)>(find(#name));
  GPUNVME_CUDA_FUNCTIONS(GPUNVME_RESOLVE)
#undef GPUNVME_RESOLVE
  return opened;
}

}  // namespace

Library LoadLibrary(const std::vector<std::string>& paths) {
  Table& table = TheTable();
  const std::lock_guard<std::mutex> lock(table.mutex);
  Library result;
  for (const std::string& path : paths) {
    auto& opened = table.libraries[path];
    if (opened == nullptr) {
      // LOCAL: its symbols are nobody else's business. LAZY: whatever it lacks for itself shows at its first use.
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
