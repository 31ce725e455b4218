#include "cuda_executor.h"

#include <time.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "../cuda/reachable.h"
#include "../cuda/touch.h"
#include "share.cuh"

namespace gpunvme {

namespace {

constexpr uint64_t kPage = 4096;
// A leader is a block of one warp.
constexpr unsigned kLeaderThreads = 32;
// Outcomes of half a million commands, and the commands themselves.
constexpr size_t kSharedBytes = 4 << 20;
constexpr size_t kLocalBytes = 16 << 20;
// Limit for copies of some kilobytes, and for kernels that have reported their end: microseconds on a working GPU.
constexpr uint64_t kFinishNs = 5'000'000'000;
// Time to poll without pauses. A copy of a few kilobytes takes about 10 us, a pause at least 50 us (timer slack, prctl(2)).
constexpr uint64_t kBusyNs = 100'000;
constexpr timespec kPause = {0, 10'000};

uint64_t NowNs() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1000000000 + static_cast<uint64_t>(now.tv_nsec);
}

Problem NotAtRest() {
  return {"pause", "CUDA_ERROR_NOT_READY", "engines on this GPU could not be paused", cuda::kErrorNotReady};
}

}  // namespace

CudaExecutor::CudaExecutor(cuda::Session& session, cuda::Function serve)
    : session_(session), parking_(session.parking), serve_(serve) {
  session_.holds++;
  parking_->parkables.push_back(this);
}

CudaExecutor::~CudaExecutor() { End(); }

bool CudaExecutor::End() {
  if (ended_) return true;
  static_cast<void>(Enter());
  watch_.reset();
  const cuda::Parked parked(*parking_);
  // The GPU may still use the memory, or other engines could not be paused for freeing it.
  const bool moving = stuck_ || (!parked.ok() && copies_ != nullptr);
  if (moving && !session_.IsDead()) return false;
  ended_ = true;
  auto& parkables = parking_->parkables;
  parkables.erase(std::remove(parkables.begin(), parkables.end(), static_cast<cuda::Parkable*>(this)), parkables.end());
  const cuda::Functions& api = session_.api;
  for (const auto& [given, page] : registered_) {
    api.cuMemHostUnregister(reinterpret_cast<void*>(static_cast<uintptr_t>(page)));
  }
  if (stream_ != nullptr) api.cuStreamDestroy_v2(stream_);
  if (copies_ != nullptr) api.cuStreamDestroy_v2(copies_);
  for (const Slab& slab : slabs_) api.cuMemFreeHost(slab.host);
  for (const cuda::DevicePointer local : locals_) api.cuMemFree_v2(local);
  cuda::Drop(session_);
  return true;
}

Problem CudaExecutor::ProblemOf(const char* call, cuda::Result result) const {
  if (result == cuda::kSuccess) return {};
  // A driver older than the error does not know its name.
  const char* name = nullptr;
  const char* text = nullptr;
  if (session_.api.cuGetErrorName(result, &name) != cuda::kSuccess || name == nullptr) name = "an unnamed error";
  if (session_.api.cuGetErrorString(result, &text) != cuda::kSuccess || text == nullptr) text = "no description";
  session_.Note(result, call);
  return {call, name, text, result, session_.IsDead()};
}

Problem CudaExecutor::Enter() const { return ProblemOf("cuCtxSetCurrent", session_.Enter()); }

void CudaExecutor::Wakes(Waker* waker) { waker_ = waker; }

void CudaExecutor::Serves(Pausable* leaders) { leaders_ = leaders; }

void CudaExecutor::Pause() {
  if (leaders_ != nullptr) leaders_->Pause();
}

void CudaExecutor::Resume() {
  if (leaders_ != nullptr) leaders_->Resume();
}

cuda::Parkable::State CudaExecutor::Look() {
  if (leaders_ != nullptr && leaders_->HaveEnded() && !stuck_) return State::kResting;
  if (session_.IsDead()) return State::kResting;
  static_cast<void>(Enter());
  State state = State::kResting;
  const auto look = [&](cuda::Stream stream) {
    const cuda::Result result = session_.Note(session_.api.cuStreamQuery(stream), "cuStreamQuery");
    if (result == cuda::kErrorNotReady) state = State::kRunning;
    else if (result != cuda::kSuccess && state == State::kResting) state = State::kUnknown;
  };
  if (stream_ != nullptr) look(stream_);
  if (copies_ != nullptr) look(copies_);
  return session_.IsDead() ? State::kResting : state;
}

bool CudaExecutor::HasRoom(size_t shared, size_t local) const {
  return (shared == 0 || shared_.Has(shared)) && (local == 0 || local_.Has(local));
}

Problem CudaExecutor::Grow(size_t shared, size_t local) {
  if (Problem problem = Enter()) return problem;
  const cuda::Parked parked(*parking_);
  if (!parked.ok()) return NotAtRest();
  const cuda::Functions& api = session_.api;
  if (shared > 0 && !shared_.Has(shared)) {
    const size_t bytes = std::max(shared + Pool::kGrain, kSharedBytes);
    void* host = nullptr;
    const unsigned flags = cuda::kMemHostAllocPortable | cuda::kMemHostAllocDeviceMap;
    if (Problem problem = ProblemOf("cuMemHostAlloc", api.cuMemHostAlloc(&host, bytes, flags))) return problem;
    cuda::DevicePointer device = 0;
    const cuda::Result result = api.cuMemHostGetDevicePointer_v2(&device, host, 0);
    if (result != cuda::kSuccess) {
      api.cuMemFreeHost(host);
      return ProblemOf("cuMemHostGetDevicePointer_v2", result);
    }
    slabs_.push_back({static_cast<uint8_t*>(host), device, bytes});
    shared_.Add(reinterpret_cast<uintptr_t>(host), bytes);
  }
  if (local > 0 && !local_.Has(local)) {
    const size_t bytes = std::max(local + Pool::kGrain, kLocalBytes);
    cuda::DevicePointer device = 0;
    if (Problem problem = ProblemOf("cuMemAlloc_v2", api.cuMemAlloc_v2(&device, bytes))) return problem;
    locals_.push_back(device);
    local_.Add(device, bytes);
  }
  return {};
}

Problem CudaExecutor::AllocateShared(size_t bytes, SharedBlock* block) {
  const uint64_t address = shared_.Take(bytes);
  if (address == 0) return {"Take", "no room", "no free part of the pinned memory is long enough", 0};
  auto* host = reinterpret_cast<uint8_t*>(static_cast<uintptr_t>(address));
  for (const Slab& slab : slabs_) {
    if (host >= slab.host && host < slab.host + slab.bytes) block->device = slab.device + (host - slab.host);
  }
  block->host = host;
  std::memset(host, 0, bytes);
  return {};
}

void CudaExecutor::FreeShared(const SharedBlock& block) { shared_.Give(reinterpret_cast<uintptr_t>(block.host)); }

Problem CudaExecutor::AllocateLocal(size_t bytes, uint64_t* device) {
  *device = local_.Take(bytes);
  if (*device == 0) return {"Take", "no room", "no free part of the GPU memory is long enough", 0};
  return {};
}

void CudaExecutor::FreeLocal(uint64_t device) { local_.Give(device); }

// Creates the copy stream before that of the leaders, so that it does not share a hardware work queue with it.
Problem CudaExecutor::Upload(uint64_t device, const void* from, size_t bytes) {
  if (Problem problem = Enter()) return problem;
  if (stuck_) return NotAtRest();
  if (copies_ == nullptr) {
    const cuda::Result made = session_.api.cuStreamCreate(&copies_, cuda::kStreamNonBlocking);
    if (Problem problem = ProblemOf("cuStreamCreate", made)) return problem;
  }
  const auto* first = static_cast<const uint8_t*>(from);
  staged_.assign(first, first + bytes);
  return Transfer("cuMemcpyHtoDAsync_v2", session_.api.cuMemcpyHtoDAsync_v2(device, staged_.data(), bytes, copies_));
}

Problem CudaExecutor::Download(void* to, uint64_t device, size_t bytes) {
  if (Problem problem = Enter()) return problem;
  if (stuck_) return NotAtRest();
  staged_.assign(bytes, 0);
  const cuda::Result begun = session_.api.cuMemcpyDtoHAsync_v2(staged_.data(), device, bytes, copies_);
  if (Problem problem = Transfer("cuMemcpyDtoHAsync_v2", begun)) return problem;
  std::memcpy(to, staged_.data(), bytes);
  return {};
}

// For copies of a few kilobytes in a stream without kernels.
Problem CudaExecutor::Transfer(const char* call, cuda::Result begun) {
  if (Problem problem = ProblemOf(call, begun)) return problem;
  Problem problem = Finish(copies_);
  if (problem.code == cuda::kErrorNotReady) stuck_ = true;
  return problem;
}

Problem CudaExecutor::Finish(cuda::Stream stream) const {
  Problem problem;
  for (const uint64_t start_ns = NowNs();;) {
    const cuda::Result result = session_.api.cuStreamQuery(stream);
    if (result == cuda::kSuccess) return problem;
    // One error does not prove that the stream is empty; after a second one, its state is unknowable.
    if (result != cuda::kErrorNotReady) {
      if (problem) return problem;
      problem = ProblemOf("cuStreamQuery", result);
      continue;
    }
    const uint64_t waited_ns = NowNs() - start_ns;
    if (waited_ns > kFinishNs) return {"cuStreamQuery", "CUDA_ERROR_NOT_READY", "work in a stream did not end", result};
    if (waited_ns > kBusyNs) nanosleep(&kPause, nullptr);
  }
}

// Memory that the GPU can already access, because the driver allocated it or other code registered it, is used as it
// is. Its owner must keep it while it is used here.
Problem CudaExecutor::Reach(uint64_t address, size_t bytes, bool registers, uint64_t* device) {
  if (Problem problem = Enter()) return problem;
  const uint64_t first = address / kPage * kPage;
  const uint64_t end = (address + bytes + kPage - 1) / kPage * kPage;
  cuda::DevicePointer pages = 0;
  const auto find = [&] {
    return ProblemOf("cuMemHostGetDevicePointer_v2", cuda::FindReachable(session_.api, first, end, &pages));
  };
  if (Problem problem = find()) return problem;
  if (pages == 0) {
    const cuda::Parked parked(*parking_);
    if (!parked.ok()) return NotAtRest();
    auto* memory = reinterpret_cast<void*>(static_cast<uintptr_t>(first));
    const unsigned flags = cuda::kRegisterPortable | cuda::kRegisterDeviceMap | (registers ? cuda::kRegisterIoMemory : 0);
    if (registers) cuda::TouchPages(first, end);
    const cuda::Result result = session_.api.cuMemHostRegister_v2(memory, end - first, flags);
    if (Problem problem = ProblemOf("cuMemHostRegister_v2", result)) return problem;
    registered_[address] = first;
    Problem problem = find();
    if (!problem && pages == 0) problem = ProblemOf("cuMemHostGetDevicePointer_v2", cuda::kErrorInvalidValue);
    if (problem) {
      Forget(address);
      return problem;
    }
  }
  *device = pages + (address - first);
  return {};
}

void CudaExecutor::Forget(uint64_t address) {
  const auto found = registered_.find(address);
  if (found == registered_.end()) return;
  const cuda::Parked parked(*parking_);
  // End tries again.
  if (!parked.ok()) return;
  session_.api.cuMemHostUnregister(reinterpret_cast<void*>(static_cast<uintptr_t>(found->second)));
  registered_.erase(found);
}

// With the greatest priority: leaders that wait for other kernels leave the drive idle.
Problem CudaExecutor::MakeStream() {
  const cuda::Functions& api = session_.api;
  int least = 0, greatest = 0;
  const cuda::Result asked = api.cuCtxGetStreamPriorityRange(&least, &greatest);
  if (Problem problem = ProblemOf("cuCtxGetStreamPriorityRange", asked)) return problem;
  const cuda::Result made = api.cuStreamCreateWithPriority(&stream_, cuda::kStreamNonBlocking, greatest);
  return ProblemOf("cuStreamCreateWithPriority", made);
}

Problem CudaExecutor::Launch(const LaunchedLeaders& leaders, uint64_t launch) {
  if (Problem problem = Enter()) return problem;
  // Before the launch, which must be watched. Join ends the watch of earlier ones.
  if (watch_ == nullptr) watch_ = std::make_unique<ReportWatch>(waker_);
  if (Problem problem = watch_->Start()) return problem;
  if (stream_ == nullptr) {
    if (Problem problem = MakeStream()) return problem;
  }
  uint64_t at = leaders.at;
  void* parameters[] = {&at, &launch};
  const cuda::Result result =
      session_.api.cuLaunchKernel(serve_, leaders.count, 1, 1, kLeaderThreads, 1, 1, 0, stream_, parameters, nullptr);
  if (Problem problem = ProblemOf("cuLaunchKernel", result)) return problem;
  for (unsigned index = 0; index < leaders.count; index++) watch_->Add(leaders.reports + index, launch);
  return {};
}

void CudaExecutor::Posted() {
  if (watch_ != nullptr) watch_->Expect();
}

Problem CudaExecutor::Check() {
  if (Problem problem = Enter()) return problem;
  if (stream_ == nullptr) return {};
  const cuda::Result result = session_.api.cuStreamQuery(stream_);
  return result == cuda::kErrorNotReady ? Problem{} : ProblemOf("cuStreamQuery", result);
}

Problem CudaExecutor::Join() {
  static_cast<void>(Enter());
  watch_.reset();
  if (stream_ == nullptr) return {};
  // A stream that returns errors has no running kernel.
  Problem problem = Finish(stream_);
  return problem.code == cuda::kErrorNotReady ? problem : Problem{};
}

// The waker may be deleted before the leaders end.
void CudaExecutor::Abandon() { watch_.reset(); }

}  // namespace gpunvme
