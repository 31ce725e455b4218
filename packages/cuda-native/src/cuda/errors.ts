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
    const next = NEXT.get(name)
    super(`${attempt} failed: ${name} (${description})`, {
      facts: [`${call} returned ${result}`, ...facts],
      ...(next === undefined ? {} : { next }),
    })
    this.call = call
    this.result = result
    this.resultName = name
  }
}

/** What helps against the answers for which something does. */
const NEXT = new Map([
  ['CUDA_ERROR_OUT_OF_MEMORY', 'less memory at a time, or free() what is not needed any more'],
  ['CUDA_ERROR_UNSUPPORTED_PTX_VERSION', 'a driver of version 535 or newer'],
  ['CUDA_ERROR_NO_BINARY_FOR_GPU', 'a GPU of compute capability 7.5 (Turing) or newer'],
  ['CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED', 'unregister() what was registered of these pages before'],
  ['CUDA_ERROR_ILLEGAL_ADDRESS', 'close this GPU and open it again: nothing runs in its context any more'],
  ['CUDA_ERROR_LAUNCH_FAILED', 'close this GPU and open it again: nothing runs in its context any more'],
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
  readonly facts: readonly string[]

  /** @param facts What `registrationFacts` says of the range and the machine. */
  constructor(cause: CudaCallError, facts: readonly string[]) {
    const [headline, ...details] = cause.message.split('\n')
    const isPrivilege = cause.resultName === 'CUDA_ERROR_NOT_PERMITTED'
    const all = [...details.filter((line) => !line.startsWith('  Try:')).map((line) => line.trim()), ...facts]
    super(headline!, {
      facts: all,
      next: `${isPrivilege ? 'as root, or with NVreg_RegistryDwords=PeerMappingOverride=1' : OPEN_MODULE}; ${MEANWHILE}`,
      cause,
    })
    this.category = isPrivilege ? 'privilege' : 'infeasible'
    this.resultName = cause.resultName
    this.facts = all
  }
}

const OPEN_MODULE = "the open flavour of NVIDIA's kernel modules, for GPUs from Turing on, in its current version"
const MEANWHILE =
  'or leave `engine` out of Controller.open, or give it cpuKernelEngine(): the CPU rings their doorbells'
