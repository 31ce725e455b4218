import { GpuNvmeError } from '@gpunvme/nvme-spec'

/** What the addon tells of a call that the driver answered with an error. */
export interface FailedCall {
  /** What was being done, as "Launching gpunvme_serve". */
  readonly attempt: string
  /** The driver's function, by the name that its library exports. */
  readonly call: string
  /** The CUresult, and what the driver says it is. */
  readonly result: number
  readonly name: string
  readonly description: string
  readonly facts: readonly string[]
}

/** NVIDIA's driver refused a call, or reports that work on the GPU went wrong. */
export class CudaCallError extends GpuNvmeError {
  readonly code = 'ERR_GPUNVME_CUDA_CALL'
  readonly category = 'device'
  /** The function that failed: `cuMemAlloc_v2`. */
  readonly call: string
  /** The CUresult, as `2`, and its name, as `CUDA_ERROR_OUT_OF_MEMORY`. */
  readonly result: number
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

/** cuda.h says of these that the process must be terminated and relaunched to continue using CUDA. */
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
/** What asks how work goes: CUDA_ERROR_UNKNOWN is then the work's, and the context's death. */
const QUESTIONS = ['cuStreamQuery', 'cuEventQuery', 'cuStreamSynchronize']
const RESTART = 'restart this process: the GPU runs nothing more in it, nor in a context that it opens anew'
const BUSY = 'end what else uses this GPU, or give this process another by CUDA_VISIBLE_DEVICES'

/** What helps against the answers for which something does. */
const NEXT = new Map<string, string>([
  ['CUDA_ERROR_OUT_OF_MEMORY', 'less memory at a time, or free() what is not needed any more'],
  ['CUDA_ERROR_UNSUPPORTED_PTX_VERSION', 'a driver of version 535 or newer'],
  ['CUDA_ERROR_NO_BINARY_FOR_GPU', 'a GPU of compute capability 7.5 (Turing) or newer'],
  ['CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED', 'unregister() what was registered of these pages before'],
  ['CUDA_ERROR_DEVICE_UNAVAILABLE', `${BUSY}; nvidia-smi -q -d COMPUTE says which mode it is in`],
  ['CUDA_ERROR_PRIMARY_CONTEXT_ACTIVE', 'open the GPU before anything else of this process uses CUDA on it'],
  [
    'CUDA_ERROR_SYSTEM_NOT_READY',
    'start what this machine needs beside the driver, as nvidia-fabricmanager of its version where GPUs have an NVSwitch',
  ],
  [
    'CUDA_ERROR_SYSTEM_DRIVER_MISMATCH',
    'reload the kernel module or reboot: libcuda.so.1 and the module that runs are of two versions, as after an update',
  ],
  [
    'CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE',
    "the driver's own libcuda.so.1 in place of that of a package cuda-compat, which is for data centre GPUs alone",
  ],
  [
    'CUDA_ERROR_LAUNCH_TIMEOUT',
    `${RESTART}; a GPU without a display, since one with a display ends kernels that run for long`,
  ],
  ...DEATHS.map((name) => [name, RESTART] as const),
])

/** The GPU did not finish within the time that it was given. What it does goes on: nothing that it uses may go. */
export class CudaTimeoutError extends GpuNvmeError {
  readonly code = 'ERR_GPUNVME_CUDA_TIMEOUT'
  readonly category = 'device'
  readonly afterNs: number

  /** @param attempt What was waited for, as "Copying 4096 bytes to GPU memory". @param next What helps. */
  constructor(
    attempt: string,
    afterNs: number,
    next = 'nvidia-smi, which tells what else runs on that GPU; a longer timeoutNs where it is only slow',
  ) {
    super(`${attempt} did not end within ${afterNs / 1e9} s`, { next })
    this.afterNs = afterNs
  }
}

/** The GPU is still needed: kernels of engines run there, and drive controllers. Nothing was changed. */
export class CudaBusyError extends GpuNvmeError {
  readonly code = 'ERR_GPUNVME_CUDA_BUSY'
  readonly category = 'usage'
  readonly engines: number

  /** @param engines How many have queues there. */
  constructor(engines: number) {
    const [have, whose] = engines === 1 ? ['engine has', 'its controller'] : ['engines have', 'their controllers']
    super(`The GPU cannot be closed: ${engines} ${have} queues there`, { next: `close ${whose} first` })
    this.engines = engines
  }
}

/**
 * The GPU was refused a controller's registers. Kernels cannot ring doorbells then, and the reason is in the machine,
 * not in the call: the facts say what it depends on.
 */
export class CudaRegistrationError extends GpuNvmeError {
  readonly code = 'ERR_GPUNVME_CUDA_REGISTRATION'
  readonly category: 'privilege' | 'infeasible'
  /** The CUresult's name, as `CUDA_ERROR_INVALID_VALUE`. */
  readonly resultName: string

  /** @param facts What `registrationFacts` says of the range and the machine. */
  constructor(cause: CudaCallError, facts: readonly string[]) {
    const isPrivilege = cause.resultName === 'CUDA_ERROR_NOT_PERMITTED'
    super(cause.headline, {
      facts: [...cause.facts, ...facts],
      next: `${isPrivilege ? 'as root, or with NVreg_RegistryDwords=PeerMappingOverride=1' : OPEN_MODULE}; ${MEANWHILE}`,
      cause,
    })
    this.category = isPrivilege ? 'privilege' : 'infeasible'
    this.resultName = cause.resultName
  }
}

const OPEN_MODULE = "the open flavour of NVIDIA's kernel modules, for GPUs from Turing on, in its current version"
const MEANWHILE = "or the engine 'cpu-kernel' or 'host', whose doorbells the CPU rings"
