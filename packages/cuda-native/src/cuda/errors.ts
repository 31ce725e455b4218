import { GpuNvmeError } from '@gpunvme/nvme-spec'
import type { RegistrationReport } from './registration-facts.js'

/** A call that the driver answered with an error, as the addon reports it. */
export interface FailedCall {
  /** What was attempted, such as "Launching gpunvme_serve". */
  readonly attempt: string
  /** Exported name of the driver's function. */
  readonly call: string
  /** The CUresult. */
  readonly result: number
  /** Name and description of the result by the driver. */
  readonly name: string
  readonly description: string
  readonly facts: readonly string[]
}

/** Error: NVIDIA's driver refused a call, or reports that work on the GPU failed. */
export class CudaCallError extends GpuNvmeError {
  readonly code = 'ERR_GPUNVME_CUDA_CALL'
  readonly category = 'device'
  /** The failed function, such as `cuMemAlloc_v2`. */
  readonly call: string
  /** The CUresult, such as 2. */
  readonly result: number
  /** Name of the CUresult, such as `CUDA_ERROR_OUT_OF_MEMORY`. */
  readonly resultName: string

  constructor({ attempt, call, result, name, description, facts }: FailedCall) {
    const isAnother = name === 'CUDA_ERROR_UNKNOWN' && !QUESTIONS.includes(call)
    const next = isAnother ? undefined : NEXT.get(name)
    super(`${attempt} failed: ${name} (${description})`, {
      facts: [`${call} returned ${result}`, ...facts],
      next,
    })
    this.call = call
    this.result = result
    this.resultName = name
  }
}

/** Results after which, by cuda.h, the process must be restarted to use CUDA again. */
const DEATHS = [
  'CUDA_ERROR_ECC_UNCORRECTABLE',
  'CUDA_ERROR_CONTAINED',
  'CUDA_ERROR_ILLEGAL_ADDRESS',
  'CUDA_ERROR_ASSERT',
  'CUDA_ERROR_HARDWARE_STACK_ERROR',
  'CUDA_ERROR_ILLEGAL_INSTRUCTION',
  'CUDA_ERROR_MISALIGNED_ADDRESS',
  'CUDA_ERROR_INVALID_ADDRESS_SPACE',
  'CUDA_ERROR_INVALID_PC',
  'CUDA_ERROR_LAUNCH_FAILED',
  'CUDA_ERROR_TENSOR_MEMORY_LEAK',
  'CUDA_ERROR_UNKNOWN',
]
/** Calls that query work. If they return CUDA_ERROR_UNKNOWN, the work has failed and the context is unusable. */
const QUESTIONS = ['cuStreamQuery', 'cuEventQuery', 'cuStreamSynchronize']
const RESTART = 'restart this process: it cannot run anything on the GPU any more, not even in a new context'
const BUSY = 'end the other processes on this GPU, or select another GPU with CUDA_VISIBLE_DEVICES'

/** Next step by result. */
const NEXT = new Map<string, string>([
  ['CUDA_ERROR_OUT_OF_MEMORY', 'allocate less, or free() memory that is no longer needed'],
  ['CUDA_ERROR_UNSUPPORTED_PTX_VERSION', 'install NVIDIA driver 535 or newer'],
  ['CUDA_ERROR_NO_BINARY_FOR_GPU', 'use a GPU of compute capability 7.5 (Turing) or newer'],
  ['CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED', 'unregister() the earlier registration of these pages'],
  ['CUDA_ERROR_DEVICE_UNAVAILABLE', `${BUSY}; nvidia-smi -q -d COMPUTE shows its compute mode`],
  ['CUDA_ERROR_PRIMARY_CONTEXT_ACTIVE', 'open the GPU before other code of this process uses CUDA on it'],
  [
    'CUDA_ERROR_SYSTEM_NOT_READY',
    'start the services that this machine requires, such as nvidia-fabricmanager of the same version for GPUs with an NVSwitch',
  ],
  [
    'CUDA_ERROR_SYSTEM_DRIVER_MISMATCH',
    'reload the kernel module or reboot: libcuda.so.1 and the loaded module have different versions, as after an update',
  ],
  [
    'CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE',
    "use the driver's own libcuda.so.1 instead of that of cuda-compat, which supports only data centre GPUs",
  ],
  [
    'CUDA_ERROR_LAUNCH_TIMEOUT',
    `${RESTART}; use a GPU without a display, since the driver ends long-running kernels on one with a display`,
  ],
  ...DEATHS.map((name) => [name, RESTART] as const),
])

/** Error: work on the GPU did not end within its time limit. It may continue, so the memory that it uses stays allocated. */
export class CudaTimeoutError extends GpuNvmeError {
  readonly code = 'ERR_GPUNVME_CUDA_TIMEOUT'
  readonly category = 'device'
  /** The time limit, in nanoseconds. */
  readonly afterNs: number

  /** @param attempt the work, such as "Copying 4096 bytes to GPU memory". @param next the next step. */
  constructor(
    attempt: string,
    afterNs: number,
    next = 'run nvidia-smi to see what else runs on the GPU; raise timeoutNs if it is only slow',
  ) {
    super(`${attempt} did not end within ${afterNs / 1e9} s`, { next })
    this.afterNs = afterNs
  }
}

/** Error: the GPU cannot be closed, since engines have queues on it. Nothing was changed. */
export class CudaBusyError extends GpuNvmeError {
  readonly code = 'ERR_GPUNVME_CUDA_BUSY'
  readonly category = 'usage'
  /** Number of engines that have queues on the GPU. */
  readonly engines: number

  /** @param engines number of engines that have queues on the GPU. */
  constructor(engines: number) {
    const [have, whose] = engines === 1 ? ['engine has', 'its controller'] : ['engines have', 'their controllers']
    super(`The GPU cannot be closed: ${engines} ${have} queues on it`, { next: `close ${whose} first` })
    this.engines = engines
  }
}

/**
 * Thrown when the driver refuses to register a controller's doorbells or queue memory, so kernels cannot submit commands.
 * The facts state the kind of mapping, and what else the refusal depends on.
 */
export class CudaRegistrationError extends GpuNvmeError {
  readonly code = 'ERR_GPUNVME_CUDA_REGISTRATION'
  readonly category: 'privilege' | 'infeasible'
  /** Name of the CUresult, such as `CUDA_ERROR_INVALID_VALUE`. */
  readonly resultName: string

  /** @param explained the range and the machine, from `explainRegistration`. */
  constructor(cause: CudaCallError, { kind, facts, next }: RegistrationReport) {
    const isPrivilege = cause.resultName === 'CUDA_ERROR_NOT_PERMITTED'
    const step = isPrivilege ? AS_ROOT : (cause.next ?? next)
    super(cause.headline, {
      facts: [...cause.facts, ...facts],
      next: step === undefined ? MEANWHILE[kind] : `${step}; or ${MEANWHILE[kind]}`,
      cause,
    })
    this.category = isPrivilege ? 'privilege' : 'infeasible'
    this.resultName = cause.resultName
  }
}

const AS_ROOT = 'run as root, or load the driver with NVreg_RegistryDwords=PeerMappingOverride=1'
const MEANWHILE = {
  registers: "use the engine 'host', or cudaEngine with { doorbells: 'cpu' }, for which a thread writes the doorbells",
  memory: "use the engine 'cpu-kernel' or 'host', which run on the CPU",
} as const
