// A stand-in for NVIDIA's libcuda, whose GPU consists of threads of this process, for machines without a GPU. It can
// fail on demand. Like the real library, it rejects calls without a context, invalid memory, pages that NVIDIA's driver
// cannot register (registration.h), pages that are registered already, and copies across the end of a registration.
// Where the kernel allows it, host memory has a different address on the GPU, so that mistaking one for the other is
// detected.
//
// Environment, read at each cuInit:
//   GPUNVME_STANDIN_FAIL     "cuMemAlloc_v2=2@3,cuInit=999": the third call returns 2, the first one 999. The count
//                            restarts when this text changes. Functions that release a resource release it even if
//                            they fail. "cuStreamQuery=719@3+": from the third call on, all work is stopped, and all
//                            calls that need a context return 719, as after the failure of a kernel on a real GPU.
//   GPUNVME_STANDIN_ATTRIBUTES  device attributes, numbered as in cuda.h: "17=1,75=12"
//   GPUNVME_STANDIN_DEVICES  number of GPUs. Default: 1
//   GPUNVME_STANDIN_PEERS    "0-1=0,1-0=0": GPUs that cannot access each other's memory. Default: all can. "2" instead
//                            of 0: they claim that they can, but copies between them succeed without moving data, as
//                            once observed
//   GPUNVME_STANDIN_VERSION  version of CUDA. Default: 12020
//   GPUNVME_STANDIN_TIME_LIMIT  1 for a GPU that limits the run time of kernels
//   GPUNVME_STANDIN_DRIVER   driver whose registration rules apply: "proprietary 550.163.01 6.12 user" (ReadMachine)
//   GPUNVME_STANDIN_SMAPS    file of pretended mappings, such as registers, which take precedence over the real ones
//   GPUNVME_STANDIN_LOST     "7f0000000000-7f0000004000": registered memory in which stores of kernels are lost
//   GPUNVME_STANDIN_CONTROL  file of one page that shows the current state, and can hold back copies (see Control)
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "cuda/driver.h"
#include "standin/kernels.h"
#include "standin/registration.h"

using namespace gpunvme::cuda;

namespace {

constexpr Result kPeerAccessUnsupported = 217, kPeerAccessNotEnabled = 705;
constexpr Result kInvalidValue = 1, kOutOfMemory = 2, kNotInitialized = 3, kInvalidDevice = 101, kInvalidContext = 201,
                 kInvalidPtx = 218, kInvalidHandle = 400, kAlreadyRegistered = 712, kNotRegistered = 713,
                 kNotSupported = 801, kCaptureUnsupported = 900, kIllegalState = 401;
constexpr int kGreatestPriority = -5;
constexpr size_t kPage = 4096;
constexpr size_t kDeviceBytes = size_t{1} << 30;

// standin.ts depends on this layout.
struct Control {
  // Copies of at least this size are held back. 0: none.
  std::atomic<uint32_t> holdCopies;
  std::atomic<uint32_t> failed;
  std::atomic<int32_t> contexts, modules, streams, events, device, pinned, registered;
  std::atomic<uint32_t> copiesStarted, copiesDone;
  // Number of launched kernels of the package, and the number of a launch that is held back while it is set.
  std::atomic<uint32_t> launched, holdLaunch;
  // Address and length of the last registration of registers.
  std::atomic<uint64_t> registeredAt, registeredBytes;
  // Number of lookups of a kernel by name, and of loads.
  std::atomic<uint32_t> lookups, loads;
  // Number of graphs and executable graphs.
  std::atomic<int32_t> graphs;
};

Control gNobody;
Control* gControl = &gNobody;

// Protects all state except queues of streams, and events.
std::mutex gMutex;

struct Planned {
  std::string name;
  Result result;
  int nth;
  bool forGood;
};
std::string gPlanText;
// Result of all calls that need a context, after a permanent failure.
Result gDeath = kSuccess;
std::map<int, int> gAttributes;
enum class Reach { kNone, kWhole, kOnPaper };
std::map<std::pair<int, int>, Reach> gPeers;
// Pairs of contexts of which the first can access memory of the second.
std::map<std::pair<uintptr_t, uintptr_t>, bool> gEnabled;
std::vector<Planned> gPlan;
std::map<std::string, int> gCalls;
std::string gControlPath;
int gDevices = -1;
int gVersion = 12020;
int gTimeLimit = 0;
// First and end address of registered memory in which stores of kernels are lost. They go to `gNowhere`.
unsigned long gLost[2];
alignas(4096) uint8_t gNowhere[1 << 16];
standin::Machine gMachine;

void StopWork();

// Returns whether a call needs no context, and so works even after a permanent failure.
bool IsWithoutContext(const std::string& name) {
  return name == "cuInit" || name == "cuDriverGetVersion" || name == "cuModuleGetLoadingMode" ||
         name.rfind("cuGetError", 0) == 0 ||
         (name.rfind("cuDevice", 0) == 0 && name.rfind("cuDevicePrimary", 0) != 0);
}

// Returns the planned error of this call, or success.
Result Answer(const char* name) {
  std::unique_lock<std::mutex> lock(gMutex);
  const int nth = ++gCalls[name];
  if (gDeath != kSuccess && !IsWithoutContext(name)) return gDeath;
  for (const Planned& each : gPlan) {
    if (each.name != name || each.nth != nth) continue;
    gControl->failed++;
    if (each.forGood) {
      gDeath = each.result;
      lock.unlock();
      // The caller may free memory after this error, so all work must stop first.
      StopWork();
    }
    return each.result;
  }
  return kSuccess;
}

#define ANSWER() \
  if (const Result answer = Answer(__func__); answer != kSuccess) return answer
#define ANSWER_AFTERWARDS() const Result answer = Answer(__func__)

void ReadEnvironment() {
  const auto text = [](const char* name) { return std::string(getenv(name) == nullptr ? "" : getenv(name)); };
  const auto number = [&](const char* name, int otherwise) {
    return text(name).empty() ? otherwise : std::atoi(text(name).c_str());
  };
  const std::lock_guard<std::mutex> lock(gMutex);
  gDevices = number("GPUNVME_STANDIN_DEVICES", 1);
  gVersion = number("GPUNVME_STANDIN_VERSION", 12020);
  gTimeLimit = number("GPUNVME_STANDIN_TIME_LIMIT", 0);
  gMachine = {};
  standin::ReadMachine(text("GPUNVME_STANDIN_DRIVER"), &gMachine);
  gMachine.smaps = text("GPUNVME_STANDIN_SMAPS");
  gLost[0] = gLost[1] = 0;
  static_cast<void>(std::sscanf(text("GPUNVME_STANDIN_LOST").c_str(), "%lx-%lx", &gLost[0], &gLost[1]));
  gAttributes.clear();
  const std::string attributes = text("GPUNVME_STANDIN_ATTRIBUTES");
  for (size_t at = 0, end; at < attributes.size(); at = end + 1) {
    end = std::min(attributes.find(',', at), attributes.size());
    int attribute, value;
    if (std::sscanf(attributes.c_str() + at, "%d=%d", &attribute, &value) == 2) gAttributes[attribute] = value;
  }
  gPeers.clear();
  const std::string peers = text("GPUNVME_STANDIN_PEERS");
  for (size_t at = 0, end; at < peers.size(); at = end + 1) {
    end = std::min(peers.find(',', at), peers.size());
    int from, to, reach;
    if (std::sscanf(peers.c_str() + at, "%d-%d=%d", &from, &to, &reach) == 3)
      gPeers[{from, to}] = reach == 0 ? Reach::kNone : reach == 2 ? Reach::kOnPaper : Reach::kWhole;
  }
  if (const std::string plan = text("GPUNVME_STANDIN_FAIL"); plan != gPlanText) {
    gPlanText = plan;
    gPlan.clear();
    gCalls.clear();
    gDeath = kSuccess;
    standin::dying = false;
    for (size_t at = 0, end; at < plan.size(); at = end + 1) {
      end = std::min(plan.find(',', at), plan.size());
      char name[64], last = 0;
      int result, nth = 1;
      if (std::sscanf(plan.substr(at, end - at).c_str(), "%63[^=]=%d@%d%c", name, &result, &nth, &last) < 2) continue;
      gPlan.push_back({name, result, nth, last == '+'});
    }
  }
  if (const std::string path = text("GPUNVME_STANDIN_CONTROL"); path != gControlPath) {
    gControlPath = path;
    const int fd = open(path.c_str(), O_RDWR | O_CLOEXEC);
    void* page = fd < 0 ? MAP_FAILED : mmap(nullptr, kPage, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (fd >= 0) close(fd);
    gControl = page == MAP_FAILED ? &gNobody : static_cast<Control*>(page);
  }
}

struct ContextState {
  int retained = 0;
};
std::map<Device, ContextState> gContexts;
thread_local Context tCurrent = nullptr;

Context ContextOf(Device device) {
  return reinterpret_cast<Context>(static_cast<uintptr_t>(0xc0000 + device));
}

Device DeviceOf(Context context) {
  return static_cast<Device>(reinterpret_cast<uintptr_t>(context) - 0xc0000);
}

Reach ReachOf(Device from, Device to) {
  const auto given = gPeers.find({from, to});
  return given == gPeers.end() ? Reach::kWhole : given->second;
}

bool HasContext() {
  const std::lock_guard<std::mutex> lock(gMutex);
  for (const auto& [device, state] : gContexts) {
    if (tCurrent == ContextOf(device)) return state.retained > 0;
  }
  return false;
}

#define NEEDS_CONTEXT() \
  if (!HasContext()) return kInvalidContext

// Number of running kernels of each context. Excludes the kernels of kernels.ptx, which tests end themselves.
std::map<Context, int> gKernels;
std::condition_variable gKernelEnded;

// Waits for all kernels. Some calls of the real driver may do so on some GPUs. The stand-in always does.
void WaitForKernels() {
  std::unique_lock<std::mutex> lock(gMutex);
  gKernelEnded.wait(lock, [context = tCurrent] { return gKernels[context] == 0; });
}

// A memory block, in maps by its first address on the GPU or the host.
struct Block {
  uint8_t* host;
  uint8_t* device;
  size_t length;
  // Mapping that was created for the block; its length is 0 if none was.
  uint8_t* mapped;
  size_t mappedLength;
};
std::map<uintptr_t, Block> gDevice, gPinned, gRegistered;

uintptr_t Number(const void* pointer) {
  return reinterpret_cast<uintptr_t>(pointer);
}

// Returns whether these bytes are GPU memory.
bool IsDevice(DevicePointer pointer, size_t length) {
  const std::lock_guard<std::mutex> lock(gMutex);
  auto next = gDevice.upper_bound(pointer);
  if (next == gDevice.begin()) return false;
  const Block& block = std::prev(next)->second;
  const size_t offset = pointer - Number(block.device);
  return offset <= block.length && length <= block.length - offset;
}

// Returns whether only part of these host bytes is registered. The driver rejects copies from or to such memory.
bool CrossesAnEnd(const void* memory, size_t length) {
  const std::lock_guard<std::mutex> lock(gMutex);
  const uintptr_t from = Number(memory), to = from + length;
  for (const auto& [at, block] : gRegistered) {
    const uintptr_t end = at + block.length;
    if (from < end && at < to && (from < at || to > end)) return true;
  }
  return false;
}

struct EventState {
  std::mutex mutex;
  std::condition_variable changed;
  // Number of times it was recorded, and reached.
  uint64_t recorded = 0, reached = 0;

  void Reach(uint64_t number) {
    const std::lock_guard<std::mutex> lock(mutex);
    if (number > reached) reached = number;
    changed.notify_all();
  }
  void Wait(uint64_t number) {
    std::unique_lock<std::mutex> lock(mutex);
    changed.wait(lock, [&] { return reached >= number; });
  }
};

struct StreamState;
// Enqueues one piece of work in a stream.
using Node = std::function<void(const std::shared_ptr<StreamState>&)>;

// A queue of work. One thread executes it in order, and ends when the stream is destroyed and the queue is empty.
struct StreamState {
  // While a graph is recorded: the recorded work. Used by the recording thread.
  std::unique_ptr<std::vector<Node>> capture;
  bool isInvalid = false;

  std::mutex mutex;
  std::condition_variable changed;
  std::deque<std::function<void()>> work;
  bool busy = false, ended = false;

  void Put(std::function<void()> each) {
    const std::lock_guard<std::mutex> lock(mutex);
    work.push_back(std::move(each));
    changed.notify_all();
  }
  bool IsIdle() {
    const std::lock_guard<std::mutex> lock(mutex);
    return work.empty() && !busy;
  }
  // Drops the queued work, and waits for the running work, which ends when it reads `dying`.
  void Stop() {
    std::unique_lock<std::mutex> lock(mutex);
    work.clear();
    changed.wait_for(lock, std::chrono::seconds(5), [&] { return !busy; });
  }
  void WaitUntilIdle() {
    std::unique_lock<std::mutex> lock(mutex);
    changed.wait(lock, [&] { return work.empty() && !busy; });
  }
  void Run() {
    std::unique_lock<std::mutex> lock(mutex);
    while (true) {
      changed.wait(lock, [&] { return ended || !work.empty(); });
      if (work.empty()) return;
      const auto next = std::move(work.front());
      work.pop_front();
      busy = true;
      lock.unlock();
      next();
      lock.lock();
      busy = false;
      changed.notify_all();
    }
  }
};

// Records a piece of work, or enqueues it in the stream.
void Submit(const std::shared_ptr<StreamState>& stream, Node node) {
  if (stream->capture != nullptr) stream->capture->push_back(std::move(node));
  else node(stream);
}

// A recorded or executable graph.
struct GraphState {
  std::vector<Node> nodes;
};

struct FunctionState {
  standin::Kernel kernel;
  bool isOfPackage;
  // Size of each parameter in bytes.
  std::vector<size_t> sizes;
};
struct ModuleState {
  std::map<std::string, FunctionState> functions;
};

std::map<Stream, std::shared_ptr<StreamState>> gStreams;
std::map<Event, std::shared_ptr<EventState>> gEvents;
std::map<Module, std::unique_ptr<ModuleState>> gModules;
std::map<Graph, std::shared_ptr<GraphState>> gGraphs;
std::map<GraphExec, std::shared_ptr<GraphState>> gExecs;
// Stream whose work this thread records.
thread_local std::weak_ptr<StreamState> tRecorded;

// Returns whether this thread records a graph. If so, invalidates it, since the current call is not allowed meanwhile.
bool InvalidatesRecording() {
  const auto recorded = tRecorded.lock();
  if (recorded != nullptr) recorded->isInvalid = true;
  return recorded != nullptr;
}

// Calls that may synchronize are not allowed while this thread records a graph in the mode THREAD_LOCAL.
#define UNSAFE_IN_RECORDING() \
  if (InvalidatesRecording()) return kCaptureUnsupported
uintptr_t gNextHandle = 0x5000;

template <typename Handle, typename State>
std::shared_ptr<State> Find(const std::map<Handle, std::shared_ptr<State>>& all, Handle handle) {
  const std::lock_guard<std::mutex> lock(gMutex);
  const auto found = all.find(handle);
  return found == all.end() ? nullptr : found->second;
}

void StopWork() {
  standin::dying = true;
  std::map<Stream, std::shared_ptr<StreamState>> streams;
  {
    const std::lock_guard<std::mutex> lock(gMutex);
    streams = gStreams;
  }
  for (const auto& [stream, state] : streams) state->Stop();
  // Includes kernels that never started.
  const std::lock_guard<std::mutex> lock(gMutex);
  gKernels.clear();
  gKernelEnded.notify_all();
}

// Returns the kernels of a PTX text that the stand-in implements, with the sizes of their parameters.
std::unique_ptr<ModuleState> ReadPtx(const std::string& text) {
  auto module = std::make_unique<ModuleState>();
  const std::string keyword = ".entry ";
  for (size_t at = text.find(keyword); at != std::string::npos; at = text.find(keyword, at + 1)) {
    const size_t start = at + keyword.size(), open = text.find('(', start), close = text.find(')', open);
    const std::string name = text.substr(start, open - start), list = text.substr(open, close - open);
    FunctionState function{standin::FindKernel(name.c_str()), name.rfind("gpunvme_", 0) == 0, {}};
    // ".param .u64 name", ".param .u64 .ptr .align 1 name", or ".param .align 8 .b8 name[24]".
    for (size_t next = list.find(".param"); next != std::string::npos;) {
      const size_t from = next;
      next = list.find(".param", from + 1);
      const std::string one = list.substr(from, next - from);
      int bits = 0, count = 1;
      for (const char* type = one.c_str(); bits == 0 && (type = std::strchr(type, '.')) != nullptr; type++) {
        if (std::strchr("usbf", type[1]) != nullptr) std::sscanf(type + 2, "%d", &bits);
      }
      const size_t bracket = one.find('[');
      if (bracket != std::string::npos) std::sscanf(one.c_str() + bracket, "[%d]", &count);
      function.sizes.push_back(static_cast<size_t>(bits / 8 * count));
    }
    if (function.kernel != nullptr) module->functions.emplace(name, function);
  }
  return module;
}

void Copy(void* to, const void* from, size_t bytes) {
  gControl->copiesStarted++;
  for (uint32_t least; (least = gControl->holdCopies) != 0 && bytes >= least;) {
    if (standin::dying) return;
    usleep(50);
  }
  std::memcpy(to, from, bytes);
  gControl->copiesDone++;
}

struct Named {
  Result result;
  const char* name;
  const char* text;
};
constexpr Named kNames[] = {
    {1, "CUDA_ERROR_INVALID_VALUE", "a value that cannot be"},
    {2, "CUDA_ERROR_OUT_OF_MEMORY", "no memory left"},
    {3, "CUDA_ERROR_NOT_INITIALIZED", "cuInit was not called"},
    {46, "CUDA_ERROR_DEVICE_UNAVAILABLE", "somebody else has it"},
    {100, "CUDA_ERROR_NO_DEVICE", "there is no GPU"},
    {101, "CUDA_ERROR_INVALID_DEVICE", "no such GPU"},
    {201, "CUDA_ERROR_INVALID_CONTEXT", "no context"},
    {214, "CUDA_ERROR_ECC_UNCORRECTABLE", "a bit was lost"},
    {217, "CUDA_ERROR_PEER_ACCESS_UNSUPPORTED", "these two do not reach each other"},
    {218, "CUDA_ERROR_INVALID_PTX", "not PTX"},
    {400, "CUDA_ERROR_INVALID_HANDLE", "not a handle"},
    {500, "CUDA_ERROR_NOT_FOUND", "no such name"},
    {600, "CUDA_ERROR_NOT_READY", "not done yet"},
    {700, "CUDA_ERROR_ILLEGAL_ADDRESS", "an address that is none"},
    {712, "CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED", "registered before"},
    {713, "CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED", "not registered"},
    {704, "CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED", "they reach each other already"},
    {705, "CUDA_ERROR_PEER_ACCESS_NOT_ENABLED", "they did not reach each other"},
    {702, "CUDA_ERROR_LAUNCH_TIMEOUT", "a kernel took too long"},
    {710, "CUDA_ERROR_ASSERT", "a kernel asserts"},
    {714, "CUDA_ERROR_HARDWARE_STACK_ERROR", "a stack is broken"},
    {715, "CUDA_ERROR_ILLEGAL_INSTRUCTION", "no such instruction"},
    {716, "CUDA_ERROR_MISALIGNED_ADDRESS", "an address is not aligned"},
    {717, "CUDA_ERROR_INVALID_ADDRESS_SPACE", "an address of another space"},
    {718, "CUDA_ERROR_INVALID_PC", "no such place"},
    {719, "CUDA_ERROR_LAUNCH_FAILED", "a kernel went wrong"},
    {401, "CUDA_ERROR_ILLEGAL_STATE", "a state in which this cannot be done"},
    {900, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED", "not allowed while a stream is captured"},
    {901, "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED", "an earlier error has invalidated the capture"},
    {800, "CUDA_ERROR_NOT_PERMITTED", "not allowed"},
    {801, "CUDA_ERROR_NOT_SUPPORTED", "not supported"},
    {802, "CUDA_ERROR_SYSTEM_NOT_READY", "not ready"},
    {803, "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH", "library and module differ"},
    {804, "CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE", "not this GPU"},
    {999, "CUDA_ERROR_UNKNOWN", "unknown"},
};

const Named* NameOf(Result result) {
  for (const Named& each : kNames) {
    if (each.result == result) return &each;
  }
  return nullptr;
}

}  // namespace

#define EXPORT extern "C" __attribute__((visibility("default"))) Result

EXPORT cuInit(unsigned flags) {
  ReadEnvironment();
  ANSWER();
  return flags == 0 ? kSuccess : kInvalidValue;
}

EXPORT cuDriverGetVersion(int* version) {
  ANSWER();
  *version = gVersion;
  return kSuccess;
}

EXPORT cuGetErrorName(Result error, const char** name) {
  ANSWER();
  const Named* named = NameOf(error);
  *name = named == nullptr ? nullptr : named->name;
  return named == nullptr ? kInvalidValue : kSuccess;
}

EXPORT cuGetErrorString(Result error, const char** text) {
  ANSWER();
  const Named* named = NameOf(error);
  *text = named == nullptr ? nullptr : named->text;
  return named == nullptr ? kInvalidValue : kSuccess;
}

EXPORT cuDeviceGetCount(int* count) {
  ANSWER();
  if (gDevices < 0) return kNotInitialized;
  *count = gDevices;
  return kSuccess;
}

EXPORT cuDeviceGet(Device* device, int ordinal) {
  ANSWER();
  if (ordinal < 0 || ordinal >= gDevices) return kInvalidDevice;
  *device = ordinal;
  return kSuccess;
}

EXPORT cuDeviceGetName(char* name, int length, Device device) {
  ANSWER();
  std::snprintf(name, static_cast<size_t>(length), "Stand-in %d", device);
  return kSuccess;
}

EXPORT cuDeviceTotalMem_v2(size_t* bytes, Device) {
  ANSWER();
  *bytes = kDeviceBytes;
  return kSuccess;
}

EXPORT cuDeviceGetAttribute(int* value, int attribute, Device) {
  ANSWER();
  if (const auto given = gAttributes.find(attribute); given != gAttributes.end()) {
    *value = given->second;
    return kSuccess;
  }
  switch (attribute) {
    case kAttributeComputeMajor: *value = 8; return kSuccess;
    case kAttributeComputeMinor: *value = 6; return kSuccess;
    case kAttributeHostRegister: *value = 1; return kSuccess;
    case kAttributeTimeLimit: *value = gTimeLimit; return kSuccess;
    default: *value = 0; return kSuccess;
  }
}

EXPORT cuDeviceGetPCIBusId(char* busId, int length, Device device) {
  ANSWER();
  std::snprintf(busId, static_cast<size_t>(length), "0000:%02X:00.0", 10 + device);
  return kSuccess;
}

EXPORT cuDevicePrimaryCtxRetain(Context* context, Device device) {
  ANSWER();
  const std::lock_guard<std::mutex> lock(gMutex);
  if (gContexts[device].retained++ == 0) gControl->contexts++;
  *context = ContextOf(device);
  return kSuccess;
}

EXPORT cuDevicePrimaryCtxRelease_v2(Device device) {
  ANSWER_AFTERWARDS();
  {
    std::unique_lock<std::mutex> lock(gMutex);
    gKernelEnded.wait(lock, [device] { return gKernels[ContextOf(device)] == 0; });
  }
  const std::lock_guard<std::mutex> lock(gMutex);
  if (gContexts[device].retained == 0) return kInvalidContext;
  if (--gContexts[device].retained == 0) {
    gControl->contexts--;
    for (auto each = gEnabled.begin(); each != gEnabled.end();) {
      const uintptr_t context = Number(ContextOf(device));
      each = each->first.first == context || each->first.second == context ? gEnabled.erase(each) : std::next(each);
    }
  }
  return answer;
}

EXPORT cuCtxSetCurrent(Context context) {
  const Result answer = Answer(__func__);
  if (answer != kSuccess && gDeath == kSuccess) return answer;
  // After a permanent failure, resources can still be released.
  tCurrent = context;
  if (answer != kSuccess) return answer;
  return context == nullptr || HasContext() ? kSuccess : kInvalidContext;
}

EXPORT cuDeviceGetP2PAttribute(int* value, int attribute, Device from, Device to) {
  ANSWER();
  if (from == to || from >= gDevices || to >= gDevices) return kInvalidDevice;
  const bool reaches = ReachOf(from, to) != Reach::kNone;
  *value = attribute == kP2pAccessSupported ? reaches : 0;
  return kSuccess;
}

EXPORT cuCtxEnablePeerAccess(Context peer, unsigned flags) {
  ANSWER();
  NEEDS_CONTEXT();
  WaitForKernels();
  if (flags != 0) return kInvalidValue;
  if (ReachOf(DeviceOf(tCurrent), DeviceOf(peer)) == Reach::kNone) return kPeerAccessUnsupported;
  const std::lock_guard<std::mutex> lock(gMutex);
  bool& enabled = gEnabled[{Number(tCurrent), Number(peer)}];
  if (enabled) return kErrorPeerAccessAlreadyEnabled;
  enabled = true;
  return kSuccess;
}

EXPORT cuCtxDisablePeerAccess(Context peer) {
  ANSWER_AFTERWARDS();
  NEEDS_CONTEXT();
  WaitForKernels();
  const std::lock_guard<std::mutex> lock(gMutex);
  return gEnabled.erase({Number(tCurrent), Number(peer)}) == 0 ? kPeerAccessNotEnabled : answer;
}

EXPORT cuModuleLoadDataEx(Module* module, const void* image, unsigned count, int* options, void** values) {
  ANSWER();
  NEEDS_CONTEXT();
  WaitForKernels();
  const std::string text = static_cast<const char*>(image);
  if (text.find(".version") == std::string::npos) {
    for (unsigned i = 0; i < count; i++) {
      if (options[i] == kJitErrorLogBuffer) std::strcpy(static_cast<char*>(values[i]), "line 1: expected .version\n");
    }
    return kInvalidPtx;
  }
  const std::lock_guard<std::mutex> lock(gMutex);
  *module = reinterpret_cast<Module>(gNextHandle++);
  gModules.emplace(*module, ReadPtx(text));
  gControl->modules++;
  return kSuccess;
}

EXPORT cuModuleUnload(Module module) {
  ANSWER_AFTERWARDS();
  NEEDS_CONTEXT();
  WaitForKernels();
  const std::lock_guard<std::mutex> lock(gMutex);
  if (gModules.erase(module) == 0) return kInvalidHandle;
  gControl->modules--;
  return answer;
}

EXPORT cuModuleGetLoadingMode(int* mode) {
  ANSWER();
  const char* given = getenv("CUDA_MODULE_LOADING");
  *mode = given != nullptr && std::strcmp(given, "EAGER") == 0 ? 1 : 2;
  return kSuccess;
}

EXPORT cuFuncLoad(Function) {
  ANSWER();
  NEEDS_CONTEXT();
  gControl->loads++;
  return kSuccess;
}

EXPORT cuModuleGetFunction(Function* function, Module module, const char* name) {
  ANSWER();
  NEEDS_CONTEXT();
  gControl->lookups++;
  const std::lock_guard<std::mutex> lock(gMutex);
  const auto found = gModules.find(module);
  if (found == gModules.end()) return kInvalidHandle;
  const auto entry = found->second->functions.find(name);
  if (entry == found->second->functions.end()) return kErrorNotFound;
  *function = reinterpret_cast<Function>(&entry->second);
  return kSuccess;
}

EXPORT cuFuncGetAttribute(int* value, int attribute, Function) {
  ANSWER();
  if (attribute != kFuncMaxThreadsPerBlock) return kInvalidValue;
  *value = 256;
  return kSuccess;
}

EXPORT cuLaunchKernel(Function function, unsigned gridX, unsigned gridY, unsigned gridZ, unsigned blockX, unsigned blockY,
                      unsigned blockZ, unsigned, Stream stream, void** parameters, void**) {
  ANSWER();
  NEEDS_CONTEXT();
  const auto state = Find(gStreams, stream);
  if (state == nullptr) return kInvalidHandle;
  const auto& launched = *reinterpret_cast<FunctionState*>(function);
  // The caller's parameters may be gone when the kernel runs.
  std::vector<std::vector<uint8_t>> values;
  for (size_t i = 0; i < launched.sizes.size(); i++) {
    const auto* from = static_cast<const uint8_t*>(parameters[i]);
    values.emplace_back(from, from + launched.sizes[i]);
  }
  Submit(state, [values, isOfPackage = launched.isOfPackage, context = tCurrent, kernel = launched.kernel, gridX, gridY, gridZ,
                 blockX, blockY, blockZ](const std::shared_ptr<StreamState>& to) {
    uint32_t number = 0;
    if (isOfPackage) {
      const std::lock_guard<std::mutex> lock(gMutex);
      gKernels[context]++;
      number = ++gControl->launched;
    }
    to->Put([values, number, context, kernel, gridX, gridY, gridZ, blockX, blockY, blockZ]() mutable {
      std::vector<void*> pointers;
      for (auto& value : values) pointers.push_back(value.data());
      try {
        for (; number != 0 && gControl->holdLaunch == number; usleep(50)) standin::DieWhenTold();
        kernel(pointers.data(), {gridX, gridY, gridZ}, {blockX, blockY, blockZ});
      } catch (const standin::Killed&) {
      }
      if (number == 0) return;
      const std::lock_guard<std::mutex> lock(gMutex);
      gKernels[context]--;
      gKernelEnded.notify_all();
    });
  });
  return kSuccess;
}

EXPORT cuLaunchHostFunc(Stream stream, HostFunction function, void* data) {
  ANSWER();
  NEEDS_CONTEXT();
  const auto state = Find(gStreams, stream);
  if (state == nullptr) return kInvalidHandle;
  Submit(state, [function, data](const auto& to) { to->Put([function, data] { function(data); }); });
  return kSuccess;
}

EXPORT cuStreamCreate(Stream* stream, unsigned) {
  ANSWER();
  NEEDS_CONTEXT();
  const auto state = std::make_shared<StreamState>();
  std::thread([state] { state->Run(); }).detach();
  const std::lock_guard<std::mutex> lock(gMutex);
  *stream = reinterpret_cast<Stream>(gNextHandle++);
  gStreams.emplace(*stream, state);
  gControl->streams++;
  return kSuccess;
}

EXPORT cuStreamCreateWithPriority(Stream* stream, unsigned flags, int priority) {
  ANSWER();
  return priority == kGreatestPriority ? cuStreamCreate(stream, flags) : kInvalidValue;
}

EXPORT cuCtxGetStreamPriorityRange(int* least, int* greatest) {
  ANSWER();
  NEEDS_CONTEXT();
  *least = 0;
  *greatest = kGreatestPriority;
  return kSuccess;
}

EXPORT cuStreamDestroy_v2(Stream stream) {
  ANSWER_AFTERWARDS();
  NEEDS_CONTEXT();
  WaitForKernels();
  const auto state = Find(gStreams, stream);
  if (state == nullptr) return kInvalidHandle;
  {
    const std::lock_guard<std::mutex> lock(state->mutex);
    state->ended = true;
    state->changed.notify_all();
  }
  const std::lock_guard<std::mutex> lock(gMutex);
  gStreams.erase(stream);
  gControl->streams--;
  return answer;
}

EXPORT cuStreamQuery(Stream stream) {
  ANSWER();
  NEEDS_CONTEXT();
  const auto state = Find(gStreams, stream);
  if (state == nullptr) return kInvalidHandle;
  if (state->capture != nullptr) {
    state->isInvalid = true;
    return kCaptureUnsupported;
  }
  return state->IsIdle() ? kSuccess : kErrorNotReady;
}

EXPORT cuStreamBeginCapture_v2(Stream stream, int mode) {
  ANSWER();
  NEEDS_CONTEXT();
  const auto state = Find(gStreams, stream);
  if (state == nullptr) return kInvalidHandle;
  if (mode != kCaptureThreadLocal) return kInvalidValue;
  if (state->capture != nullptr || tRecorded.lock() != nullptr) return kIllegalState;
  state->capture = std::make_unique<std::vector<Node>>();
  state->isInvalid = false;
  tRecorded = state;
  return kSuccess;
}

EXPORT cuStreamEndCapture(Stream stream, Graph* graph) {
  ANSWER_AFTERWARDS();
  NEEDS_CONTEXT();
  const auto state = Find(gStreams, stream);
  if (state == nullptr) return kInvalidHandle;
  if (state->capture == nullptr) return kIllegalState;
  const auto recorded = std::make_shared<GraphState>(GraphState{std::move(*state->capture)});
  state->capture.reset();
  tRecorded.reset();
  *graph = nullptr;
  if (answer != kSuccess) return answer;
  if (state->isInvalid) return kErrorCaptureInvalidated;
  const std::lock_guard<std::mutex> lock(gMutex);
  *graph = reinterpret_cast<Graph>(gNextHandle++);
  gGraphs.emplace(*graph, recorded);
  gControl->graphs++;
  return kSuccess;
}

EXPORT cuGraphInstantiateWithFlags(GraphExec* exec, Graph graph, unsigned long long flags) {
  ANSWER();
  NEEDS_CONTEXT();
  WaitForKernels();
  const auto recorded = Find(gGraphs, graph);
  if (recorded == nullptr || flags != 0) return kInvalidValue;
  const std::lock_guard<std::mutex> lock(gMutex);
  *exec = reinterpret_cast<GraphExec>(gNextHandle++);
  gExecs.emplace(*exec, recorded);
  gControl->graphs++;
  return kSuccess;
}

EXPORT cuGraphLaunch(GraphExec exec, Stream stream) {
  ANSWER();
  NEEDS_CONTEXT();
  const auto state = Find(gStreams, stream);
  const auto launched = Find(gExecs, exec);
  if (state == nullptr || launched == nullptr) return kInvalidHandle;
  for (const Node& node : launched->nodes) Submit(state, node);
  return kSuccess;
}

EXPORT cuGraphExecDestroy(GraphExec exec) {
  ANSWER_AFTERWARDS();
  NEEDS_CONTEXT();
  const std::lock_guard<std::mutex> lock(gMutex);
  if (gExecs.erase(exec) == 0) return kInvalidHandle;
  gControl->graphs--;
  return answer;
}

EXPORT cuGraphDestroy(Graph graph) {
  ANSWER_AFTERWARDS();
  NEEDS_CONTEXT();
  const std::lock_guard<std::mutex> lock(gMutex);
  if (gGraphs.erase(graph) == 0) return kInvalidHandle;
  gControl->graphs--;
  return answer;
}

EXPORT cuStreamSynchronize(Stream stream) {
  ANSWER();
  NEEDS_CONTEXT();
  const auto state = Find(gStreams, stream);
  if (state == nullptr) return kInvalidHandle;
  state->WaitUntilIdle();
  return kSuccess;
}

EXPORT cuStreamWaitEvent(Stream stream, Event event, unsigned) {
  ANSWER();
  NEEDS_CONTEXT();
  const auto state = Find(gStreams, stream);
  const auto waited = Find(gEvents, event);
  if (state == nullptr || waited == nullptr) return kInvalidHandle;
  state->Put([waited, number = waited->recorded] { waited->Wait(number); });
  return kSuccess;
}

EXPORT cuEventCreate(Event* event, unsigned) {
  ANSWER();
  NEEDS_CONTEXT();
  const std::lock_guard<std::mutex> lock(gMutex);
  *event = reinterpret_cast<Event>(gNextHandle++);
  gEvents.emplace(*event, std::make_shared<EventState>());
  gControl->events++;
  return kSuccess;
}

EXPORT cuEventDestroy_v2(Event event) {
  ANSWER_AFTERWARDS();
  NEEDS_CONTEXT();
  const std::lock_guard<std::mutex> lock(gMutex);
  if (gEvents.erase(event) == 0) return kInvalidHandle;
  gControl->events--;
  return answer;
}

EXPORT cuEventRecord(Event event, Stream stream) {
  ANSWER();
  NEEDS_CONTEXT();
  const auto state = Find(gStreams, stream);
  const auto recorded = Find(gEvents, event);
  if (state == nullptr || recorded == nullptr) return kInvalidHandle;
  const uint64_t number = ++recorded->recorded;
  state->Put([recorded, number] { recorded->Reach(number); });
  return kSuccess;
}

EXPORT cuEventQuery(Event event) {
  ANSWER();
  NEEDS_CONTEXT();
  const auto state = Find(gEvents, event);
  if (state == nullptr) return kInvalidHandle;
  const std::lock_guard<std::mutex> lock(state->mutex);
  return state->reached >= state->recorded ? kSuccess : kErrorNotReady;
}

EXPORT cuEventSynchronize(Event event) {
  ANSWER();
  const auto state = Find(gEvents, event);
  if (state == nullptr) return kInvalidHandle;
  state->Wait(state->recorded);
  return kSuccess;
}

EXPORT cuMemAlloc_v2(DevicePointer* pointer, size_t bytes) {
  ANSWER();
  NEEDS_CONTEXT();
  UNSAFE_IN_RECORDING();
  WaitForKernels();
  if (bytes == 0) return kInvalidValue;
  if (bytes > kDeviceBytes) return kOutOfMemory;
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return kOutOfMemory;
  auto* device = static_cast<uint8_t*>(memory);
  const std::lock_guard<std::mutex> lock(gMutex);
  gDevice[Number(device)] = {nullptr, device, bytes, device, bytes};
  gControl->device++;
  *pointer = Number(device);
  return kSuccess;
}

EXPORT cuMemFree_v2(DevicePointer pointer) {
  ANSWER_AFTERWARDS();
  NEEDS_CONTEXT();
  UNSAFE_IN_RECORDING();
  WaitForKernels();
  const std::lock_guard<std::mutex> lock(gMutex);
  const auto found = gDevice.find(pointer);
  if (found == gDevice.end()) return kInvalidValue;
  munmap(found->second.mapped, found->second.mappedLength);
  gDevice.erase(found);
  gControl->device--;
  return answer;
}

EXPORT cuMemHostAlloc(void** memory, size_t bytes, unsigned) {
  ANSWER();
  NEEDS_CONTEXT();
  WaitForKernels();
  const int fd = memfd_create("standin", MFD_CLOEXEC);
  if (fd < 0 || bytes == 0 || bytes > kDeviceBytes || ftruncate(fd, static_cast<off_t>(bytes)) != 0) {
    if (fd >= 0) close(fd);
    return kOutOfMemory;
  }
  void* host = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
#if defined(__SANITIZE_THREAD__)
  // ThreadSanitizer does not recognize that two mappings share memory: use one address.
  void* device = host;
#else
  void* device = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
#endif
  close(fd);
  if (host == MAP_FAILED || device == MAP_FAILED) return kOutOfMemory;
  auto* alias = static_cast<uint8_t*>(device);
  const std::lock_guard<std::mutex> lock(gMutex);
  gPinned[Number(host)] = {static_cast<uint8_t*>(host), alias, bytes, alias, bytes};
  gControl->pinned++;
  *memory = host;
  return kSuccess;
}

EXPORT cuMemFreeHost(void* memory) {
  ANSWER_AFTERWARDS();
  NEEDS_CONTEXT();
  WaitForKernels();
  const std::lock_guard<std::mutex> lock(gMutex);
  const auto found = gPinned.find(Number(memory));
  if (found == gPinned.end()) return kInvalidValue;
  munmap(memory, found->second.length);
  munmap(found->second.mapped, found->second.mappedLength);
  gPinned.erase(found);
  gControl->pinned--;
  return answer;
}

EXPORT cuMemHostRegister_v2(void* memory, size_t bytes, unsigned flags) {
  ANSWER();
  NEEDS_CONTEXT();
  WaitForKernels();
  if (bytes == 0 || (flags & ~7u) != 0) return kInvalidValue;
  const uintptr_t first = Number(memory) / kPage * kPage;
  const uintptr_t last = (Number(memory) + bytes + kPage - 1) / kPage * kPage;
  const std::lock_guard<std::mutex> lock(gMutex);
  for (const auto& [at, block] : gRegistered) {
    const uintptr_t from = at / kPage * kPage, to = (at + block.length + kPage - 1) / kPage * kPage;
    if (first < to && from < last) return kAlreadyRegistered;
  }
  const bool isIoMemory = (flags & kRegisterIoMemory) != 0;
  if (const int refusal = standin::JudgeRegistration(gMachine, first, last - first, isIoMemory); refusal != kSuccess)
    return refusal;
  // Shared pages can be mapped again, at another address. Private pages keep the host's address.
  auto* host = static_cast<uint8_t*>(memory);
  Block block{host, host, bytes, nullptr, 0};
  void* alias = mremap(reinterpret_cast<void*>(first), 0, last - first, MREMAP_MAYMOVE);
  if (alias != MAP_FAILED) {
    block.mapped = static_cast<uint8_t*>(alias);
    block.mappedLength = last - first;
    block.device = block.mapped + (Number(memory) - first);
  }
  gRegistered[Number(memory)] = block;
  if (isIoMemory) {
    gControl->registeredAt = Number(memory);
    gControl->registeredBytes = bytes;
  }
  gControl->registered++;
  return kSuccess;
}

EXPORT cuMemHostUnregister(void* memory) {
  ANSWER_AFTERWARDS();
  NEEDS_CONTEXT();
  WaitForKernels();
  const std::lock_guard<std::mutex> lock(gMutex);
  const auto found = gRegistered.find(Number(memory));
  if (found == gRegistered.end()) return kNotRegistered;
  if (found->second.mappedLength > 0) munmap(found->second.mapped, found->second.mappedLength);
  gRegistered.erase(found);
  gControl->registered--;
  return answer;
}

EXPORT cuMemHostGetDevicePointer_v2(DevicePointer* pointer, void* memory, unsigned flags) {
  ANSWER();
  NEEDS_CONTEXT();
  if (flags != 0) return kInvalidValue;
  const std::lock_guard<std::mutex> lock(gMutex);
  for (const auto* blocks : {&gPinned, &gRegistered}) {
    auto next = blocks->upper_bound(Number(memory));
    if (next == blocks->begin()) continue;
    const Block& block = std::prev(next)->second;
    const size_t offset = Number(memory) - Number(block.host);
    if (offset >= block.length) continue;
    *pointer = Number(block.device + offset);
    if (Number(memory) >= gLost[0] && Number(memory) < gLost[1]) *pointer = Number(gNowhere) + (Number(memory) - gLost[0]) % sizeof gNowhere;
    return kSuccess;
  }
  return kInvalidValue;
}

EXPORT cuMemcpyHtoDAsync_v2(DevicePointer to, const void* from, size_t bytes, Stream stream) {
  ANSWER();
  NEEDS_CONTEXT();
  const auto state = Find(gStreams, stream);
  if (state == nullptr) return kInvalidHandle;
  if (!IsDevice(to, bytes) || CrossesAnEnd(from, bytes)) return kInvalidValue;
  state->Put([=] { Copy(reinterpret_cast<void*>(to), from, bytes); });
  return kSuccess;
}

EXPORT cuMemcpyDtoHAsync_v2(void* to, DevicePointer from, size_t bytes, Stream stream) {
  ANSWER();
  NEEDS_CONTEXT();
  const auto state = Find(gStreams, stream);
  if (state == nullptr) return kInvalidHandle;
  if (!IsDevice(from, bytes) || CrossesAnEnd(to, bytes)) return kInvalidValue;
  state->Put([=] { Copy(to, reinterpret_cast<const void*>(from), bytes); });
  return kSuccess;
}

EXPORT cuMemcpyPeerAsync(DevicePointer to, Context toContext, DevicePointer from, Context fromContext, size_t bytes,
                         Stream stream) {
  ANSWER();
  NEEDS_CONTEXT();
  const auto state = Find(gStreams, stream);
  if (state == nullptr) return kInvalidHandle;
  if (!IsDevice(to, bytes) || !IsDevice(from, bytes)) return kInvalidValue;
  const bool moves = ReachOf(DeviceOf(fromContext), DeviceOf(toContext)) != Reach::kOnPaper;
  state->Put([=] { Copy(reinterpret_cast<void*>(to), reinterpret_cast<const void*>(from), moves ? bytes : 0); });
  return kSuccess;
}

EXPORT cuMemsetD8Async(DevicePointer to, unsigned char value, size_t bytes, Stream stream) {
  ANSWER();
  NEEDS_CONTEXT();
  WaitForKernels();
  const auto state = Find(gStreams, stream);
  if (state == nullptr) return kInvalidHandle;
  if (!IsDevice(to, bytes)) return kInvalidValue;
  Submit(state, [=](const auto& stream) {
    stream->Put([=] { std::memset(reinterpret_cast<void*>(to), value, bytes); });
  });
  return kSuccess;
}

EXPORT cuMemGetHandleForAddressRange(void* handle, DevicePointer pointer, size_t bytes, int type, unsigned long long) {
  ANSWER();
  NEEDS_CONTEXT();
  if (type != kRangeHandleDmaBufFd || !IsDevice(pointer, bytes)) return kInvalidValue;
  const int fd = memfd_create("standin-dma-buf", 0);
  if (fd < 0) return kNotSupported;
  *static_cast<int*>(handle) = fd;
  return kSuccess;
}

EXPORT cuFlushGPUDirectRDMAWrites(int target, int scope) {
  ANSWER();
  NEEDS_CONTEXT();
  return target == kFlushCurrentContext && scope == kFlushToOwner ? kSuccess : kInvalidValue;
}

EXPORT cuPointerGetAttribute(void*, int, DevicePointer) {
  ANSWER();
  return kNotSupported;
}

// A prototype that differs from the table's does not compile.
#define SAME(name, parameters) static_assert(std::is_same_v<decltype(&name), decltype(Functions::name)>, #name);
GPUNVME_CUDA_FUNCTIONS(SAME)
GPUNVME_CUDA_OPTIONAL_FUNCTIONS(SAME)
