#include "cuda_executor.h"

#include <sched.h>

#include <algorithm>
#include <cstring>

namespace gpunvme {

namespace {

constexpr cuda::Result kErrorHostMemoryAlreadyRegistered = 712;  // CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED

constexpr uint64_t kPage = 4096;
// Outcomes of half a million commands, and the commands of as many.
constexpr size_t kSharedBytes = 4 << 20;
constexpr size_t kLocalBytes = 16 << 20;

}  // namespace

CudaExecutor::CudaExecutor(cuda::Session& session, cuda::Function serve, unsigned threads)
    : session_(session), serve_(serve), threads_(threads) {
  session_.holds++;
}

CudaExecutor::~CudaExecutor() { End(); }

void CudaExecutor::End() {
  if (ended_) return;
  ended_ = true;
  static_cast<void>(Enter());
  watch_.reset();
  const cuda::Functions& api = session_.api;
  for (const auto& [given, page] : registered_) {
    if (page != 0) api.cuMemHostUnregister(reinterpret_cast<void*>(static_cast<uintptr_t>(page)));
  }
  for (const cuda::Stream stream : streams_) api.cuStreamDestroy_v2(stream);
  if (copies_ != nullptr) api.cuStreamDestroy_v2(copies_);
  for (const Slab& slab : slabs_) api.cuMemFreeHost(slab.host);
  for (const cuda::DevicePointer local : locals_) api.cuMemFree_v2(local);
  session_.holds--;
}

Problem CudaExecutor::ProblemOf(const char* call, cuda::Result result) const {
  if (result == cuda::kSuccess) return {};
  // A driver that is older than the error gives no name.
  const char* name = nullptr;
  const char* text = nullptr;
  if (session_.api.cuGetErrorName(result, &name) != cuda::kSuccess || name == nullptr) name = "an error without a name";
  if (session_.api.cuGetErrorString(result, &text) != cuda::kSuccess || text == nullptr) text = "no description";
  return {call, name, text, result};
}

Problem CudaExecutor::Enter() const { return ProblemOf("cuCtxSetCurrent", session_.Enter()); }

void CudaExecutor::Wakes(Waker* waker) { watch_ = std::make_unique<ReportWatch>(waker); }

bool CudaExecutor::HasRoom(size_t shared, size_t local) const {
  return (shared == 0 || shared_.Has(shared)) && (local == 0 || local_.Has(local));
}

Problem CudaExecutor::Grow(size_t shared, size_t local) {
  if (Problem problem = Enter()) return problem;
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
  if (address == 0) return {"Take", "no room", "no part of the pinned memory is that long", 0};
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
  if (*device == 0) return {"Take", "no room", "no part of the memory on the GPU is that long", 0};
  return {};
}

void CudaExecutor::FreeLocal(uint64_t device) { local_.Give(device); }

Problem CudaExecutor::Upload(uint64_t device, const void* from, size_t bytes) {
  if (Problem problem = Enter()) return problem;
  const cuda::Functions& api = session_.api;
  if (copies_ == nullptr) {
    if (Problem problem = ProblemOf("cuStreamCreate", api.cuStreamCreate(&copies_, cuda::kStreamNonBlocking))) return problem;
  }
  if (Problem problem = ProblemOf("cuMemcpyHtoDAsync_v2", api.cuMemcpyHtoDAsync_v2(device, from, bytes, copies_))) return problem;
  return Finish();
}

Problem CudaExecutor::Download(void* to, uint64_t device, size_t bytes) {
  if (Problem problem = Enter()) return problem;
  const cuda::Result result = session_.api.cuMemcpyDtoHAsync_v2(to, device, bytes, copies_);
  if (Problem problem = ProblemOf("cuMemcpyDtoHAsync_v2", result)) return problem;
  return Finish();
}

// Copies of a few kilobytes, which wait for no kernel: nothing else is in their stream.
Problem CudaExecutor::Finish() {
  const cuda::Functions& api = session_.api;
  Problem problem = ProblemOf("cuStreamSynchronize", api.cuStreamSynchronize(copies_));
  // What is copied from or to goes when this returns: a copy that could not be waited for must be over all the same.
  while (problem && api.cuStreamQuery(copies_) == cuda::kErrorNotReady) sched_yield();
  return problem;
}

Problem CudaExecutor::Reach(uint64_t address, size_t bytes, bool registers, uint64_t* device) {
  if (Problem problem = Enter()) return problem;
  const cuda::Functions& api = session_.api;
  const uint64_t first = address / kPage * kPage;
  const uint64_t end = (address + bytes + kPage - 1) / kPage * kPage;
  auto* memory = reinterpret_cast<void*>(static_cast<uintptr_t>(first));
  const unsigned flags = cuda::kRegisterPortable | cuda::kRegisterDeviceMap | (registers ? cuda::kRegisterIoMemory : 0);
  const cuda::Result result = api.cuMemHostRegister_v2(memory, end - first, flags);
  // Whoever registered it before keeps it for as long as this uses it.
  const bool known = result == kErrorHostMemoryAlreadyRegistered;
  if (!known && result != cuda::kSuccess) return ProblemOf("cuMemHostRegister_v2", result);
  registered_[address] = known ? 0 : first;
  cuda::DevicePointer pointer = 0;
  const cuda::Result got = api.cuMemHostGetDevicePointer_v2(&pointer, memory, 0);
  if (got != cuda::kSuccess) {
    Forget(address);
    return ProblemOf("cuMemHostGetDevicePointer_v2", got);
  }
  // What was registered before may have ended within this: the GPU must see all of it.
  cuda::DevicePointer last = 0;
  auto* last_page = reinterpret_cast<void*>(static_cast<uintptr_t>(end - kPage));
  if (known && (api.cuMemHostGetDevicePointer_v2(&last, last_page, 0) != cuda::kSuccess ||
                last - pointer != end - kPage - first)) {
    Forget(address);
    return ProblemOf("cuMemHostRegister_v2", result);
  }
  *device = pointer + (address - first);
  return {};
}

void CudaExecutor::Forget(uint64_t address) {
  const auto found = registered_.find(address);
  if (found == registered_.end()) return;
  if (found->second != 0) {
    session_.api.cuMemHostUnregister(reinterpret_cast<void*>(static_cast<uintptr_t>(found->second)));
  }
  registered_.erase(found);
}

Problem CudaExecutor::Launch(unsigned number, uint64_t leader, uint64_t launch, const Report* report) {
  if (Problem problem = Enter()) return problem;
  // Before the kernel, which nobody would look at otherwise.
  if (Problem problem = watch_->Start()) return problem;
  const cuda::Functions& api = session_.api;
  while (streams_.size() <= number) {
    cuda::Stream stream = nullptr;
    if (Problem problem = ProblemOf("cuStreamCreate", api.cuStreamCreate(&stream, cuda::kStreamNonBlocking))) return problem;
    streams_.push_back(stream);
  }
  void* parameters[] = {&leader, &launch};
  const cuda::Result result =
      api.cuLaunchKernel(serve_, 1, 1, 1, threads_, 1, 1, 0, streams_[number], parameters, nullptr);
  if (Problem problem = ProblemOf("cuLaunchKernel", result)) return problem;
  watch_->Add(report, launch);
  return {};
}

Problem CudaExecutor::Check() {
  if (Problem problem = Enter()) return problem;
  for (const cuda::Stream stream : streams_) {
    const cuda::Result result = session_.api.cuStreamQuery(stream);
    if (result != cuda::kErrorNotReady && result != cuda::kSuccess) return ProblemOf("cuStreamQuery", result);
  }
  return {};
}

void CudaExecutor::Join() {
  static_cast<void>(Enter());
  watch_.reset();
  // Their leaders have said that they ended: what is left of them takes microseconds.
  for (const cuda::Stream stream : streams_) session_.api.cuStreamSynchronize(stream);
}

}  // namespace gpunvme
