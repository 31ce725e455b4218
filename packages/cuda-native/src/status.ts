import type { OrderingFacts } from './vram/index.js'
import { FIRST_BLACKWELL } from './cuda/blackwell.js'
import { findDriver, formatVersion, UNAVAILABLE, type CudaObstacle } from './cuda/driver.js'

/** A GPU, as its driver describes it. */
export interface CudaDevice {
  /** The driver's number of the GPU, for `openCuda({ device })`. */
  readonly device: number
  readonly name: string
  /** Major and minor version, such as `8.6`. */
  readonly computeCapability: string
  /** PCI address, such as `0000:0a:00.0`. */
  readonly bdf: string
  readonly memoryBytes: number
  /** CU_DEVICE_ATTRIBUTE_CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM: registered memory has the same address on host and GPU. */
  readonly usesHostPointers: boolean
  /** CU_DEVICE_ATTRIBUTE_HOST_REGISTER_SUPPORTED: host memory of the process can be registered. */
  readonly canRegisterMemory: boolean
  /** CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_SUPPORTED: other devices can access its memory through nvidia_p2p. */
  readonly canGpuDirectRdma: boolean
  /** CU_DEVICE_ATTRIBUTE_DMA_BUF_SUPPORTED: its memory can be exported as a dma-buf. */
  readonly canExportDmaBuf: boolean
  /**
   * CU_DEVICE_ATTRIBUTE_KERNEL_EXEC_TIMEOUT: the driver ends kernels that run for some seconds, as on a GPU that drives a
   * display, and with them everything that this process has on that GPU. The engine `cuda` relaunches its kernels more often
   * there, and rejects a `lingerNs` of Infinity.
   */
  readonly limitsKernelTime: boolean
  /**
   * CU_DEVICE_ATTRIBUTE_COMPUTE_MODE: which processes can open the GPU. `exclusive-process`: one process at a time, possibly
   * another one than this; `prohibited`: none.
   */
  readonly computeMode: 'default' | 'exclusive-process' | 'prohibited' | 'unknown'
  /**
   * CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_WRITES_ORDERING and ..._FLUSH_WRITES_OPTIONS: whether data that a controller wrote
   * to GPU memory are visible once its completion is. Argument of `decideOrdering` and `negotiateTier` of `/vram`.
   */
  readonly ordering: OrderingFacts
  /** Whether the engine `cuda` is expected to work on this GPU. */
  readonly engine: CudaEngineSupport
}

/** Whether the engine `cuda` is expected to work on a GPU. The driver may still refuse to register a drive's registers. */
export interface CudaEngineSupport {
  /** False if one of `reasons` prevents the engine. */
  readonly usable: boolean
  /** What prevents or limits the engine. */
  readonly reasons: readonly CudaEngineReason[]
}

/** A property of a GPU or its driver that prevents or limits the engine `cuda`. */
export interface CudaEngineReason {
  /** Stable across releases. `message` and `next` are for people. */
  readonly code: 'compute-capability' | 'compute-mode' | 'no-registration' | 'kernel-time-limit' | 'blackwell-registers'
  /** Whether the engine cannot be used because of this. */
  readonly isBlocking: boolean
  readonly message: string
  /** What to do about it. */
  readonly next: string
}

/** Whether this process can use a GPU, and otherwise why not and what to do about it. Plain JSON. */
export type CudaStatus =
  | {
      readonly available: true
      /** One line, for people. */
      readonly message: string
      /** Path by which the driver's library was opened. */
      readonly library: string
      /** Newest CUDA version that the driver supports, such as `12.2`. */
      readonly driverVersion: string
      /**
       * CUDA_MODULE_LOADING in force; `unknown` if the driver does not report it. This package sets `eager` unless the
       * environment has a value. With `lazy`, other code that loads a kernel at its first use can wait forever for a persistent
       * kernel.
       */
      readonly moduleLoading: 'eager' | 'lazy' | 'unknown'
      readonly devices: readonly CudaDevice[]
    }
  | {
      readonly available: false
      readonly state: CudaObstacle
      /** Stable across releases. `message`, `facts` and `next` are for people. */
      readonly code: (typeof UNAVAILABLE)[CudaObstacle]
      readonly message: string
      readonly facts: readonly string[]
      readonly next: string
    }

/**
 * Returns the GPUs that this process can use, or why there are none. Never throws, and allocates nothing on a GPU. Initializes
 * the driver; before that, sets CUDA_MODULE_LOADING=EAGER and CUDA_DEVICE_MAX_CONNECTIONS=32 in the environment unless they
 * are set.
 */
export function cudaStatus(): CudaStatus {
  const found = findDriver()
  if (found.state !== 'available') {
    const { state, message, facts, next } = found
    return { available: false, state, code: UNAVAILABLE[state], message, facts, next }
  }
  const devices = found.devices.map(({ name, bdf, memoryBytes, attributes }, device): CudaDevice => {
    const [major, minor, samePointer, register, rdma, dmaBuf, timeLimit, mode, flushing, ordering] = attributes
    const known = {
      device,
      name,
      computeCapability: `${major!}.${minor!}`,
      bdf: bdf.toLowerCase(),
      memoryBytes,
      usesHostPointers: samePointer === 1,
      canRegisterMemory: register === 1,
      canGpuDirectRdma: rdma === 1,
      canExportDmaBuf: dmaBuf === 1,
      limitsKernelTime: timeLimit === 1,
      computeMode: COMPUTE_MODES.get(mode!) ?? 'unknown',
      ordering: { writesOrdering: ordering!, flushWritesOptions: flushing! },
    } as const
    return { ...known, engine: outlookOf(known, major!, minor!) }
  })
  const driverVersion = formatVersion(found.driverVersion)
  const moduleLoading = LOADING_MODES.get(found.moduleLoading) ?? 'unknown'
  const names = devices.map(({ name, bdf }) => `${name} at ${bdf}`).join(', ')
  const message = `CUDA ${driverVersion} with ${names}`
  return { available: true, message, library: found.library, driverVersion, moduleLoading, devices }
}

/** CUmoduleLoadingMode and CUcomputemode of cuda.h. */
const LOADING_MODES = new Map<number, 'eager' | 'lazy'>([
  [1, 'eager'],
  [2, 'lazy'],
])
const COMPUTE_MODES = new Map<number, CudaDevice['computeMode']>([
  [0, 'default'],
  [2, 'prohibited'],
  [3, 'exclusive-process'],
])

const OTHER_ENGINES = "the engine 'cpu-kernel' or 'host'"
const WITHOUT_REGISTERS = "use the engine 'host', or cudaEngine with { doorbells: 'cpu' }, which does not register them"

/** Does not check the driver's version: drivers before CUDA 12.2 have no devices here. */
function outlookOf(device: Omit<CudaDevice, 'engine'>, major: number, minor: number): CudaEngineSupport {
  const reasons: CudaEngineReason[] = []
  if (major * 10 + minor < 75) {
    const message = `compute capability ${device.computeCapability}: the kernels require 7.5 (Turing) or newer`
    reasons.push({
      code: 'compute-capability',
      isBlocking: true,
      message,
      next: `use another GPU, or ${OTHER_ENGINES}`,
    })
  }
  if (device.computeMode === 'prohibited') {
    const message = 'the compute mode is prohibited: no process can open this GPU'
    reasons.push({
      code: 'compute-mode',
      isBlocking: true,
      message,
      next: `run nvidia-smi -i ${device.device} -c DEFAULT as root`,
    })
  }
  if (!device.canRegisterMemory) {
    const message = 'host memory cannot be registered with this GPU, so it can access neither queues nor registers'
    reasons.push({ code: 'no-registration', isBlocking: true, message, next: `use another GPU, or ${OTHER_ENGINES}` })
  }
  if (device.limitsKernelTime) {
    const message =
      'the driver ends kernels after some seconds, as on a GPU with a display: the engine relaunches its kernels earlier, and cannot make them persistent'
    reasons.push({
      code: 'kernel-time-limit',
      isBlocking: false,
      message,
      next: 'use a finite lingerNs, or a GPU without a display',
    })
  }
  if (major >= FIRST_BLACKWELL) {
    const message = `compute capability ${device.computeCapability} (Blackwell or newer): registering a drive's registers with such a GPU froze a machine`
    reasons.push({ code: 'blackwell-registers', isBlocking: true, message, next: WITHOUT_REGISTERS })
  }
  return { usable: !reasons.some(({ isBlocking }) => isBlocking), reasons }
}
