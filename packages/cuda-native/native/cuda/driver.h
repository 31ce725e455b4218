// NVIDIA's driver API, as far as it is used here: found at run time by dlopen, so that this builds and loads where there
// is no CUDA. Own prototypes; api_check.cc holds them to the real cuda.h where that exists.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace gpunvme::cuda {

using Result = int;
using Device = int;
using DevicePointer = unsigned long long;
using Context = struct ContextObject*;
using Module = struct ModuleObject*;
using Function = struct FunctionObject*;
using Stream = struct StreamObject*;
using Event = struct EventObject*;
using HostFunction = void (*)(void*);

// Values of cuda.h, by its names.
constexpr Result kSuccess = 0;
constexpr Result kErrorInvalidValue = 1;            // CUDA_ERROR_INVALID_VALUE
constexpr Result kErrorNoDevice = 100;             // CUDA_ERROR_NO_DEVICE
constexpr Result kErrorEccUncorrectable = 214;     // CUDA_ERROR_ECC_UNCORRECTABLE
constexpr Result kErrorContained = 226;            // CUDA_ERROR_CONTAINED
constexpr Result kErrorNotFound = 500;             // CUDA_ERROR_NOT_FOUND
constexpr Result kErrorNotReady = 600;             // CUDA_ERROR_NOT_READY
constexpr Result kErrorIllegalAddress = 700;       // CUDA_ERROR_ILLEGAL_ADDRESS
constexpr Result kErrorLaunchTimeout = 702;        // CUDA_ERROR_LAUNCH_TIMEOUT
constexpr Result kErrorPeerAccessAlreadyEnabled = 704;  // CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED
constexpr Result kErrorAssert = 710;               // CUDA_ERROR_ASSERT
constexpr Result kErrorHardwareStack = 714;        // CUDA_ERROR_HARDWARE_STACK_ERROR
constexpr Result kErrorIllegalInstruction = 715;   // CUDA_ERROR_ILLEGAL_INSTRUCTION
constexpr Result kErrorMisalignedAddress = 716;    // CUDA_ERROR_MISALIGNED_ADDRESS
constexpr Result kErrorInvalidAddressSpace = 717;  // CUDA_ERROR_INVALID_ADDRESS_SPACE
constexpr Result kErrorInvalidPc = 718;            // CUDA_ERROR_INVALID_PC
constexpr Result kErrorLaunchFailed = 719;         // CUDA_ERROR_LAUNCH_FAILED
constexpr Result kErrorTensorMemoryLeak = 721;     // CUDA_ERROR_TENSOR_MEMORY_LEAK
constexpr Result kErrorUnknown = 999;              // CUDA_ERROR_UNKNOWN
constexpr unsigned kMemHostAllocPortable = 0x01;   // CU_MEMHOSTALLOC_PORTABLE
constexpr unsigned kMemHostAllocDeviceMap = 0x02;  // CU_MEMHOSTALLOC_DEVICEMAP
constexpr unsigned kRegisterPortable = 0x01;       // CU_MEMHOSTREGISTER_PORTABLE
constexpr unsigned kRegisterDeviceMap = 0x02;      // CU_MEMHOSTREGISTER_DEVICEMAP
constexpr unsigned kRegisterIoMemory = 0x04;       // CU_MEMHOSTREGISTER_IOMEMORY
constexpr unsigned kStreamNonBlocking = 0x1;       // CU_STREAM_NON_BLOCKING
constexpr unsigned kEventDisableTiming = 0x2;      // CU_EVENT_DISABLE_TIMING
constexpr int kJitErrorLogBuffer = 5;              // CU_JIT_ERROR_LOG_BUFFER
constexpr int kJitErrorLogBufferSizeBytes = 6;     // CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES
constexpr int kFuncMaxThreadsPerBlock = 0;         // CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK
constexpr int kRangeHandleDmaBufFd = 1;            // CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD
constexpr int kP2pPerformanceRank = 1;             // CU_DEVICE_P2P_ATTRIBUTE_PERFORMANCE_RANK
constexpr int kP2pAccessSupported = 2;             // CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED
constexpr int kP2pNativeAtomicSupported = 3;       // CU_DEVICE_P2P_ATTRIBUTE_NATIVE_ATOMIC_SUPPORTED
constexpr int kAttributeTimeLimit = 17;            // CU_DEVICE_ATTRIBUTE_KERNEL_EXEC_TIMEOUT
constexpr int kAttributeComputeMode = 20;          // CU_DEVICE_ATTRIBUTE_COMPUTE_MODE
constexpr int kAttributeComputeMajor = 75;         // CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR
constexpr int kAttributeComputeMinor = 76;         // CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR
constexpr int kAttributeSamePointer = 91;          // CU_DEVICE_ATTRIBUTE_CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM
constexpr int kAttributeHostRegister = 99;         // CU_DEVICE_ATTRIBUTE_HOST_REGISTER_SUPPORTED
constexpr int kAttributeGpuDirectRdma = 116;       // CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_SUPPORTED
constexpr int kAttributeFlushWrites = 117;         // CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_FLUSH_WRITES_OPTIONS
constexpr int kAttributeWritesOrdering = 118;      // CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_WRITES_ORDERING
constexpr int kAttributeDmaBuf = 124;              // CU_DEVICE_ATTRIBUTE_DMA_BUF_SUPPORTED

// The names are those that the library exports: cuda.h's macros map its own names to some of these. All of them are in
// drivers from 535 (CUDA 12.2) on, which the PTX of the kernels needs anyway.
#define GPUNVME_CUDA_FUNCTIONS(F)                                                                                  \
  F(cuInit, (unsigned flags))                                                                                      \
  F(cuDriverGetVersion, (int* version))                                                                            \
  F(cuGetErrorName, (Result error, const char** name))                                                             \
  F(cuGetErrorString, (Result error, const char** text))                                                           \
  F(cuDeviceGetCount, (int* count))                                                                                \
  F(cuDeviceGet, (Device * device, int ordinal))                                                                   \
  F(cuDeviceGetName, (char* name, int length, Device device))                                                      \
  F(cuDeviceTotalMem_v2, (size_t * bytes, Device device))                                                          \
  F(cuDeviceGetAttribute, (int* value, int attribute, Device device))                                              \
  F(cuDeviceGetPCIBusId, (char* busId, int length, Device device))                                                 \
  F(cuDevicePrimaryCtxRetain, (Context * context, Device device))                                                  \
  F(cuDevicePrimaryCtxRelease_v2, (Device device))                                                                 \
  F(cuCtxSetCurrent, (Context context))                                                                            \
  F(cuDeviceGetP2PAttribute, (int* value, int attribute, Device from, Device to))                                  \
  F(cuCtxEnablePeerAccess, (Context peer, unsigned flags))                                                         \
  F(cuCtxDisablePeerAccess, (Context peer))                                                                        \
  F(cuModuleLoadDataEx, (Module * module, const void* image, unsigned count, int* options, void** values))         \
  F(cuModuleUnload, (Module module))                                                                               \
  F(cuModuleGetFunction, (Function * function, Module module, const char* name))                                   \
  F(cuFuncGetAttribute, (int* value, int attribute, Function function))                                            \
  F(cuLaunchKernel,                                                                                                \
    (Function function, unsigned gridX, unsigned gridY, unsigned gridZ, unsigned blockX, unsigned blockY,          \
     unsigned blockZ, unsigned sharedBytes, Stream stream, void** parameters, void** extra))                       \
  F(cuLaunchHostFunc, (Stream stream, HostFunction function, void* data))                                          \
  F(cuStreamCreate, (Stream * stream, unsigned flags))                                                             \
  F(cuStreamCreateWithPriority, (Stream * stream, unsigned flags, int priority))                                   \
  F(cuCtxGetStreamPriorityRange, (int* least, int* greatest))                                                      \
  F(cuStreamDestroy_v2, (Stream stream))                                                                           \
  F(cuStreamQuery, (Stream stream))                                                                                \
  F(cuStreamSynchronize, (Stream stream))                                                                          \
  F(cuStreamWaitEvent, (Stream stream, Event event, unsigned flags))                                               \
  F(cuEventCreate, (Event * event, unsigned flags))                                                                \
  F(cuEventRecord, (Event event, Stream stream))                                                                   \
  F(cuEventQuery, (Event event))                                                                                   \
  F(cuEventSynchronize, (Event event))                                                                             \
  F(cuEventDestroy_v2, (Event event))                                                                              \
  F(cuMemAlloc_v2, (DevicePointer * pointer, size_t bytes))                                                        \
  F(cuMemFree_v2, (DevicePointer pointer))                                                                         \
  F(cuMemHostAlloc, (void** memory, size_t bytes, unsigned flags))                                                 \
  F(cuMemFreeHost, (void* memory))                                                                                 \
  F(cuMemHostRegister_v2, (void* memory, size_t bytes, unsigned flags))                                            \
  F(cuMemHostUnregister, (void* memory))                                                                           \
  F(cuMemHostGetDevicePointer_v2, (DevicePointer * pointer, void* memory, unsigned flags))                         \
  F(cuMemcpyHtoDAsync_v2, (DevicePointer to, const void* from, size_t bytes, Stream stream))                       \
  F(cuMemcpyDtoHAsync_v2, (void* to, DevicePointer from, size_t bytes, Stream stream))                             \
  F(cuMemcpyPeerAsync,                                                                                             \
    (DevicePointer to, Context toContext, DevicePointer from, Context fromContext, size_t bytes, Stream stream))   \
  F(cuMemsetD8Async, (DevicePointer to, unsigned char value, size_t bytes, Stream stream))                         \
  F(cuMemGetHandleForAddressRange,                                                                                 \
    (void* handle, DevicePointer pointer, size_t bytes, int type, unsigned long long flags))                       \
  F(cuPointerGetAttribute, (void* data, int attribute, DevicePointer pointer))

// What newer drivers have, and is done without where there is none of it: cuFuncLoad is of CUDA 12.4.
#define GPUNVME_CUDA_OPTIONAL_FUNCTIONS(F)  \
  F(cuModuleGetLoadingMode, (int* mode))    \
  F(cuFuncLoad, (Function function))

// All of them, in one table; nullptr for an optional one that the library lacks.
struct Functions {
#define GPUNVME_MEMBER(name, parameters) Result(*name) parameters;
  GPUNVME_CUDA_FUNCTIONS(GPUNVME_MEMBER)
  GPUNVME_CUDA_OPTIONAL_FUNCTIONS(GPUNVME_MEMBER)
#undef GPUNVME_MEMBER
};

// A place that was tried, and what dlopen said of it.
struct TriedLibrary {
  std::string path;
  std::string reason;
};

// What came of looking for the library. `functions` is nullptr where it was not found, or lacks something.
struct Library {
  const Functions* functions = nullptr;
  // The library that was opened; empty where none was.
  std::string path;
  std::vector<TriedLibrary> tried;
  // What it does not export: it is older than what is needed.
  std::vector<std::string> missing;
};

// Opens the first of `paths` that can be opened. Each is opened once in a process, and stays: the driver starts threads
// of its own, and nothing says when they are gone.
Library LoadLibrary(const std::vector<std::string>& paths);

// cuInit. Before the first, CUDA_MODULE_LOADING=EAGER where nobody has set it: what is loaded lazily may be loaded while a
// kernel runs, and a driver that waits for kernels to end then waits for a leader that does not.
// Also as many hardware work queues as there can be, where nobody has said how many: streams that share one wait for each
// other, and whatever is behind a kernel that lingers would wait without an end.
Result Initialize(const Functions& api);

// How many hardware work queues there are, by what the environment said at the first Initialize.
int Connections();

// Whether that answer of `call` says that nothing runs in the context any more, and nothing ever will. cuda.h says of
// these that the process must be terminated and relaunched to continue using CUDA; CUDA_ERROR_UNKNOWN is one of them
// where it is the answer to how work goes.
bool IsDeath(Result result, const char* call);

}  // namespace gpunvme::cuda
