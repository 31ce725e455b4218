// Compares our prototypes with cuda.h. Compiled by a test if cuda.h is installed, and never linked.
#include <cuda.h>

#include <string_view>
#include <type_traits>

#include "driver.h"

namespace {

// Compares types as the calling convention does: pointers, floats, and integers of a width.
template <typename Ours, typename Real>
constexpr bool SameType() {
  return sizeof(Ours) == sizeof(Real) && std::is_pointer_v<Ours> == std::is_pointer_v<Real> &&
         std::is_floating_point_v<Ours> == std::is_floating_point_v<Real>;
}

template <typename Ours, typename Real>
struct SamePrototype : std::false_type {};
template <typename OurResult, typename... Ours, typename RealResult, typename... Real>
struct SamePrototype<OurResult (*)(Ours...), RealResult (*)(Real...)> {
  static constexpr bool Value() {
    if constexpr (sizeof...(Ours) != sizeof...(Real)) {
      return false;
    } else {
      return SameType<OurResult, RealResult>() && (SameType<Ours, Real>() && ...);
    }
  }
  static constexpr bool value = Value();
};

}  // namespace

// A name that cuda.h maps to another belongs to an older interface: the second text is the name after its macros.
#define GPUNVME_EXPANDED(name) #name
#define GPUNVME_CHECK(name, parameters)                                                                             \
  static_assert(std::string_view(#name) == GPUNVME_EXPANDED(name), #name " has another name in this cuda.h");       \
  static_assert(SamePrototype<decltype(gpunvme::cuda::Functions::name), decltype(&::name)>::value, \
                #name " has another prototype in this cuda.h");
GPUNVME_CUDA_FUNCTIONS(GPUNVME_CHECK)
#if CUDA_VERSION >= 12040
GPUNVME_CUDA_OPTIONAL_FUNCTIONS(GPUNVME_CHECK)
#endif

#define GPUNVME_CHECK_VALUE(ours, real) \
  static_assert(gpunvme::cuda::ours == static_cast<long long>(real), #ours " has another value in this cuda.h");
GPUNVME_CHECK_VALUE(kFlushCurrentContext, CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TARGET_CURRENT_CTX)
GPUNVME_CHECK_VALUE(kFlushToOwner, CU_FLUSH_GPU_DIRECT_RDMA_WRITES_TO_OWNER)
GPUNVME_CHECK_VALUE(kSuccess, CUDA_SUCCESS)
GPUNVME_CHECK_VALUE(kErrorInvalidValue, CUDA_ERROR_INVALID_VALUE)
GPUNVME_CHECK_VALUE(kErrorNoDevice, CUDA_ERROR_NO_DEVICE)
GPUNVME_CHECK_VALUE(kErrorNotFound, CUDA_ERROR_NOT_FOUND)
GPUNVME_CHECK_VALUE(kErrorNotReady, CUDA_ERROR_NOT_READY)
GPUNVME_CHECK_VALUE(kErrorEccUncorrectable, CUDA_ERROR_ECC_UNCORRECTABLE)
GPUNVME_CHECK_VALUE(kErrorIllegalAddress, CUDA_ERROR_ILLEGAL_ADDRESS)
GPUNVME_CHECK_VALUE(kErrorLaunchTimeout, CUDA_ERROR_LAUNCH_TIMEOUT)
GPUNVME_CHECK_VALUE(kErrorAssert, CUDA_ERROR_ASSERT)
GPUNVME_CHECK_VALUE(kErrorHardwareStack, CUDA_ERROR_HARDWARE_STACK_ERROR)
GPUNVME_CHECK_VALUE(kErrorIllegalInstruction, CUDA_ERROR_ILLEGAL_INSTRUCTION)
GPUNVME_CHECK_VALUE(kErrorMisalignedAddress, CUDA_ERROR_MISALIGNED_ADDRESS)
GPUNVME_CHECK_VALUE(kErrorInvalidAddressSpace, CUDA_ERROR_INVALID_ADDRESS_SPACE)
GPUNVME_CHECK_VALUE(kErrorInvalidPc, CUDA_ERROR_INVALID_PC)
GPUNVME_CHECK_VALUE(kErrorLaunchFailed, CUDA_ERROR_LAUNCH_FAILED)
GPUNVME_CHECK_VALUE(kErrorCaptureInvalidated, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED)
GPUNVME_CHECK_VALUE(kErrorUnknown, CUDA_ERROR_UNKNOWN)
// Not in the oldest cuda.h.
#if CUDA_VERSION >= 13000
GPUNVME_CHECK_VALUE(kErrorContained, CUDA_ERROR_CONTAINED)
GPUNVME_CHECK_VALUE(kErrorTensorMemoryLeak, CUDA_ERROR_TENSOR_MEMORY_LEAK)
#endif
GPUNVME_CHECK_VALUE(kMemHostAllocPortable, CU_MEMHOSTALLOC_PORTABLE)
GPUNVME_CHECK_VALUE(kMemHostAllocDeviceMap, CU_MEMHOSTALLOC_DEVICEMAP)
GPUNVME_CHECK_VALUE(kRegisterPortable, CU_MEMHOSTREGISTER_PORTABLE)
GPUNVME_CHECK_VALUE(kRegisterDeviceMap, CU_MEMHOSTREGISTER_DEVICEMAP)
GPUNVME_CHECK_VALUE(kRegisterIoMemory, CU_MEMHOSTREGISTER_IOMEMORY)
GPUNVME_CHECK_VALUE(kStreamNonBlocking, CU_STREAM_NON_BLOCKING)
GPUNVME_CHECK_VALUE(kCaptureThreadLocal, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL)
GPUNVME_CHECK_VALUE(kEventDisableTiming, CU_EVENT_DISABLE_TIMING)
GPUNVME_CHECK_VALUE(kJitErrorLogBuffer, CU_JIT_ERROR_LOG_BUFFER)
GPUNVME_CHECK_VALUE(kJitErrorLogBufferSizeBytes, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES)
GPUNVME_CHECK_VALUE(kFuncMaxThreadsPerBlock, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK)
GPUNVME_CHECK_VALUE(kRangeHandleDmaBufFd, CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD)
GPUNVME_CHECK_VALUE(kErrorPeerAccessAlreadyEnabled, CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED)
GPUNVME_CHECK_VALUE(kP2pPerformanceRank, CU_DEVICE_P2P_ATTRIBUTE_PERFORMANCE_RANK)
GPUNVME_CHECK_VALUE(kP2pAccessSupported, CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED)
GPUNVME_CHECK_VALUE(kP2pNativeAtomicSupported, CU_DEVICE_P2P_ATTRIBUTE_NATIVE_ATOMIC_SUPPORTED)
GPUNVME_CHECK_VALUE(kAttributeTimeLimit, CU_DEVICE_ATTRIBUTE_KERNEL_EXEC_TIMEOUT)
GPUNVME_CHECK_VALUE(kAttributeComputeMode, CU_DEVICE_ATTRIBUTE_COMPUTE_MODE)
GPUNVME_CHECK_VALUE(kAttributeFlushWrites, CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_FLUSH_WRITES_OPTIONS)
GPUNVME_CHECK_VALUE(kAttributeWritesOrdering, CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_WRITES_ORDERING)
GPUNVME_CHECK_VALUE(kAttributeComputeMajor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)
GPUNVME_CHECK_VALUE(kAttributeComputeMinor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)
GPUNVME_CHECK_VALUE(kAttributeSamePointer, CU_DEVICE_ATTRIBUTE_CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM)
GPUNVME_CHECK_VALUE(kAttributeHostRegister, CU_DEVICE_ATTRIBUTE_HOST_REGISTER_SUPPORTED)
GPUNVME_CHECK_VALUE(kAttributeGpuDirectRdma, CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_SUPPORTED)
GPUNVME_CHECK_VALUE(kAttributeDmaBuf, CU_DEVICE_ATTRIBUTE_DMA_BUF_SUPPORTED)
