import type { OrderingFacts } from './vram/index.js'
import { FIRST_BLACKWELL } from './cuda/blackwell.js'
import { findDriver, formatVersion, UNAVAILABLE, type CudaObstacle } from './cuda/driver.js'

/** A GPU, as the driver describes it. */
export interface CudaDevice {
  /** What `openCuda({ device })` takes. */
  readonly device: number
  readonly name: string
  /** Major and minor, as `8.6`. */
  readonly computeCapability: string
  /** Its PCI address, as `0000:0a:00.0`. */
  readonly bdf: string
  readonly memoryBytes: number
  /** CU_DEVICE_ATTRIBUTE_CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM: both have the same address of registered memory. */
  readonly usesHostPointers: boolean
  /** CU_DEVICE_ATTRIBUTE_HOST_REGISTER_SUPPORTED: memory of the process can be registered. */
  readonly canRegisterMemory: boolean
  /** CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_SUPPORTED: other devices may reach its memory through nvidia_p2p. */
  readonly canGpuDirectRdma: boolean
  /** CU_DEVICE_ATTRIBUTE_DMA_BUF_SUPPORTED: its memory can be exported as dma-buf. */
  readonly canExportDmaBuf: boolean
  /**
   * CU_DEVICE_ATTRIBUTE_KERNEL_EXEC_TIMEOUT: kernels may run for some seconds only, as on a GPU that drives a display: one
   * that runs for longer is ended, and with it all that this process has there. Leaders of the engine `cuda` are launched
   * anew often there, and the persistent one is refused.
   */
  readonly limitsKernelTime: boolean
  /**
   * CU_DEVICE_ATTRIBUTE_COMPUTE_MODE: who may open it. `exclusive-process` is one process at a time, which another one
   * may be; `prohibited` is nobody.
   */
  readonly computeMode: 'default' | 'exclusive-process' | 'prohibited' | 'unknown'
  /**
   * CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_WRITES_ORDERING and ..._FLUSH_WRITES_OPTIONS: whether data that a controller
   * writes into GPU memory are there when its completion is seen. `decideOrdering` and `negotiateTier` of `/vram` take it.
   */
  readonly ordering: OrderingFacts
  /** Whether the engine `cuda` can be expected to drive a controller from here. */
  readonly engine: CudaEngineOutlook
}

/** What is known beforehand of the engine `cuda` on a GPU. Registering a drive's registers may be refused all the same. */
export interface CudaEngineOutlook {
  readonly usable: boolean
  /** Why not, and what there is to know where it is. */
  readonly reasons: readonly CudaEngineReason[]
}

/** Something of a GPU or its driver that stands against the engine `cuda`. */
export interface CudaEngineReason {
  /** Stable across releases; `message` and `next` are for people. */
  readonly code: 'compute-capability' | 'compute-mode' | 'no-registration' | 'kernel-time-limit' | 'blackwell-registers'
  /** Whether it cannot be used because of this. */
  readonly prevents: boolean
  readonly message: string
  readonly next: string
}

/** Whether a GPU can be used from this process, and if not, why and what to do about it. Plain JSON. */
export type CudaStatus =
  | {
      readonly available: true
      /** In one line, for people. */
      readonly message: string
      /** The driver's library, as it was opened. */
      readonly library: string
      /** The newest CUDA that the driver serves, as `12.2`. */
      readonly driverVersion: string
      /**
       * CUDA_MODULE_LOADING as it is in force. `lazy` is somebody's wish, since this package asks for `eager`: code of others
       * that is loaded when it is first used can then wait for a kernel that does not end. A driver may not say.
       */
      readonly moduleLoading: 'eager' | 'lazy' | 'unknown'
      readonly devices: readonly CudaDevice[]
    }
  | {
      readonly available: false
      readonly state: CudaObstacle
      /** Stable across releases; `message`, `facts` and `next` are for people. */
      readonly code: (typeof UNAVAILABLE)[CudaObstacle]
      readonly message: string
      readonly facts: readonly string[]
      readonly next: string
    }

/**
 * Never throws and makes nothing on a device: a program may ask on any machine, before it decides on an engine. It starts
 * the driver, before which CUDA_MODULE_LOADING is set to EAGER in the environment where nobody has set it.
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

const OTHER_ENGINES = "engine 'cpu-kernel' or 'host', whose doorbells the CPU rings"

/** The driver's version is no matter here: one before 12.2 is not available at all. */
function outlookOf(device: Omit<CudaDevice, 'engine'>, major: number, minor: number): CudaEngineOutlook {
  const reasons: CudaEngineReason[] = []
  if (major * 10 + minor < 75) {
    const message = `compute capability ${device.computeCapability}: the kernels are for 7.5 (Turing) and newer`
    reasons.push({ code: 'compute-capability', prevents: true, message, next: `another GPU, or ${OTHER_ENGINES}` })
  }
  if (device.computeMode === 'prohibited') {
    const message = 'compute mode prohibited: no process may open this GPU'
    reasons.push({
      code: 'compute-mode',
      prevents: true,
      message,
      next: `nvidia-smi -i ${device.device} -c DEFAULT, as root`,
    })
  }
  if (!device.canRegisterMemory) {
    const message = 'memory of the process cannot be registered with this GPU: it reaches neither queues nor registers'
    reasons.push({ code: 'no-registration', prevents: true, message, next: `another GPU, or ${OTHER_ENGINES}` })
  }
  if (device.limitsKernelTime) {
    const message =
      'kernels may run for some seconds only, as on a GPU with a display: leaders are launched anew before, and none persists'
    reasons.push({
      code: 'kernel-time-limit',
      prevents: false,
      message,
      next: 'no lingerNs of Infinity, or a GPU without a display',
    })
  }
  if (major >= FIRST_BLACKWELL) {
    const message = `compute capability ${device.computeCapability} (Blackwell or newer): a drive's registers in the GPU's reach froze a machine`
    reasons.push({ code: 'blackwell-registers', prevents: true, message, next: OTHER_ENGINES })
  }
  return { usable: !reasons.some(({ prevents }) => prevents), reasons }
}
