// The used part of NVIDIA's driver API. It is loaded at run time by dlopen, so this builds and loads without CUDA. The
// prototypes are our own; api_check.cc compares them with cuda.h.
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
using Graph = struct GraphObject*;
using GraphExec = struct GraphExecObject*;
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
constexpr Result kErrorCaptureInvalidated = 901;   // CUDA_ERROR_STREAM_CAPTURE_INVALIDATED
constexpr Result kErrorUnknown = 999;              // CUDA_ERROR_UNKNOWN
constexpr unsigned kMemHostAllocPortable = 0x01;   // CU_MEMHOSTALLOC_PORTABLE
constexpr unsigned kMemHostAllocDeviceMap = 0x02;  // CU_MEMHOSTALLOC_DEVICEMAP
constexpr unsigned kRegisterPortable = 0x01;       // CU_MEMHOSTREGISTER_PORTABLE
constexpr unsigned kRegisterDeviceMap = 0x02;      // CU_MEMHOSTREGISTER_DEVICEMAP
constexpr unsigned kRegisterIoMemory = 0x04;       // CU_MEMHOSTREGISTER_IOMEMORY
constexpr unsigned kStreamNonBlocking = 0x1;       // CU_STREAM_NON_BLOCKING
constexpr int kCaptureThreadLocal = 1;             // CU_STREAM_CAPTURE_MODE_THREAD_LOCAL
constexpr unsigned kEventDisableTiming = 0x2;      // CU_EVENT_DISABLE_TIMING
constexpr int kJitErrorLogBuffer = 5;              // CU_JIT_ERROR_LOG_BUFFER
constexpr int kJitErrorLogBufferSizeBytes = 6;     // CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES
constexpr int kFuncMaxThreadsPerBlock = 0;         // CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK
constexpr int kRangeHandleDmaBufFd = 1;            // CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD
constexpr int kFlushCurrentContext = 0;            // CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TARGET_CURRENT_CTX
constexpr int kFlushToOwner = 100;                 // CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TO_OWNER
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

// Names as exported by the library; macros of cuda.h map its names to some of these. Drivers from 535 (CUDA 12.2) on,
// which the PTX of the kernels requires, export all of them.
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
  F(cuStreamBeginCapture_v2, (Stream stream, int mode))                                                            \
  F(cuStreamEndCapture, (Stream stream, Graph * graph))                                                            \
  F(cuGraphInstantiateWithFlags, (GraphExec * exec, Graph graph, unsigned long long flags))                        \
  F(cuGraphLaunch, (GraphExec exec, Stream stream))                                                                \
  F(cuGraphExecDestroy, (GraphExec exec))                                                                          \
  F(cuGraphDestroy, (Graph graph))                                                                                 \
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

// Optional functions of newer drivers: cuFuncLoad is new in CUDA 12.4.
#define GPUNVME_CUDA_OPTIONAL_FUNCTIONS(F)               \
  F(cuModuleGetLoadingMode, (int* mode))                 \
  F(cuFlushGPUDirectRDMAWrites, (int target, int scope)) \
  F(cuFuncLoad, (Function function))

// Table of all functions; nullptr for an optional one that the library lacks.
struct Functions {
#define GPUNVME_MEMBER(name, parameters) Result(*name) parameters;
  GPUNVME_CUDA_FUNCTIONS(GPUNVME_MEMBER)
  GPUNVME_CUDA_OPTIONAL_FUNCTIONS(GPUNVME_MEMBER)
#undef GPUNVME_MEMBER
};

// A path that was tried, and the error of dlopen.
struct TriedLibrary {
  std::string path;
  std::string reason;
};

// Result of LoadLibrary. `functions` is nullptr if no library was found, or if it lacks a required function.
struct Library {
  const Functions* functions = nullptr;
  // Path of the opened library; empty if none was opened.
  std::string path;
  std::vector<TriedLibrary> tried;
  // Required functions that it does not export, since it is too old.
  std::vector<std::string> missing;
};

// Opens the first of `paths` that can be opened. Libraries are opened once per process and never closed, since the
// driver starts threads whose end is unknown.
Library LoadLibrary(const std::vector<std::string>& paths);

// Calls cuInit. Before the first call, sets two variables unless they are set. CUDA_MODULE_LOADING=EAGER: lazy loading
// may wait for a leader that does not end. CUDA_DEVICE_MAX_CONNECTIONS=32: streams that share a hardware work queue
// wait for each other, and work behind a persistent kernel would wait forever.
Result Initialize(const Functions& api);

// Returns the number of hardware work queues, from the environment at the first Initialize.
int Connections();

// Returns whether a result of `call` means that the context is unusable. By cuda.h, the process must then be terminated
// and relaunched to use CUDA again. CUDA_ERROR_UNKNOWN means that only as the result of a query of work.
bool IsDeath(Result result, const char* call);

}  // namespace gpunvme::cuda
