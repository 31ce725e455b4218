import type { BarWindow, Transport } from '@gpunvme/nvme-spec/transport'
import { checkOptions, checkTransport, fit, flag } from '../arguments.js'
import { BlackwellRegistersError, FIRST_BLACKWELL } from '../cuda/blackwell.js'
import { sessionOf, type Cuda } from '../cuda/cuda.js'
import { CudaCallError, CudaRegistrationError } from '../cuda/errors.js'
import { loadPackageKernels } from '../cuda/package-kernels.js'
import { explainRegistration } from '../cuda/registration-facts.js'
import { clockAddress, kernelEngineChecks, lingerNsOf, type KernelEngineOptions } from './cpu-kernel.js'
import type { ExecutorError } from './engine-addon.js'
import { runLimitOf } from './gpu-limits.js'
import { KernelEngine } from './kernel-engine.js'
import { EngineUnsuitableError } from './unsuitable.js'

/** Options of `cudaEngine`. */
export interface CudaEngineOptions extends KernelEngineOptions {
  /**
   * Allows registering a drive's registers with a GPU of compute capability 10.0 (Blackwell) or newer. **The machine may
   * freeze**: a desktop with an RTX 5060 Ti did, in the only reported attempt. Not needed for registers in memory, such as a
   * simulator's. Default: false.
   */
  readonly riskBlackwellRegisters?: boolean
  /**
   * Writer of the controller's doorbells. 'gpu': kernels, which requires that the driver registers the controller's registers
   * for the GPU and that the platform routes writes between the devices. 'cpu': a thread of this process, which polls words
   * in host memory that kernels write: without a pause for about a millisecond after a doorbell, then every 20 to 70 µs until
   * `detach`. The GPU does everything else. Use 'cpu' for Blackwell, proprietary kernel modules, and slots between which no writes
   * are routed. Default: 'gpu'.
   */
  readonly doorbells?: 'gpu' | 'cpu'
}

/** Time that the kernel polls for another plan before it ends: several times the cost of a launch. */
const LINGER_NS = 200_000

/**
 * Creates the engine `cuda`: a kernel with one warp per queue builds entries, rings doorbells and polls for completions,
 * without the CPU. Queues are in host memory that the GPU can access, or in GPU memory with `queueMemory: 'gpu'`.
 *
 * `attach` registers queues and, unless `doorbells` is 'cpu', the controller's doorbells with CUDA, and throws
 * CudaRegistrationError if the driver refuses one of them. Keep `cuda` open until the engine is detached. The kernel pauses
 * while memory of that GPU is allocated or freed; plans continue afterwards.
 * @throws EngineUnsuitableError if native code cannot access the transport's registers; BlackwellRegistersError for a drive's
 *   registers and a GPU of compute capability 10.0 or newer, unless `doorbells` is 'cpu'; CudaCallError for a GPU that the
 *   kernels do not support;
 *   RangeError for a `lingerNs` of Infinity if the driver ends long-running kernels, or with CUDA_DEVICE_MAX_CONNECTIONS below 4.
 */
export function cudaEngine(
  transport: Pick<Transport, 'bar' | 'clock' | 'name'>,
  cuda: Cuda,
  options: CudaEngineOptions = {},
): KernelEngine {
  checkTransport(transport)
  checkOptions('cudaEngine', options, {
    ...kernelEngineChecks,
    riskBlackwellRegisters: flag,
    doorbells: fit("'gpu' or 'cpu'", (value) => value === 'gpu' || value === 'cpu'),
  })
  // Checked before the kernels are compiled.
  const { window } = transport.bar
  if (window === undefined) throw new EngineUnsuitableError('cuda', transport.name)
  const session = sessionOf(cuda)
  const { addon, handle, computeCapability } = session
  const forwardsDoorbells = options.doorbells === 'cpu'
  const isRisk = computeCapability[0] >= FIRST_BLACKWELL && window.isMemory !== true && !forwardsDoorbells
  if (isRisk && options.riskBlackwellRegisters !== true) {
    throw new BlackwellRegistersError(transport.name, computeCapability)
  }
  const lingerNs = lingerNsOf(options, LINGER_NS)
  const runLimitNs = runLimitOf(options.lingerNs === Infinity, addon.limits(handle))
  const clock = clockAddress(addon, options)
  const native = { lingerNs, runLimitNs, clock, forwardsDoorbells }
  loadPackageKernels(cuda)
  const engine = new KernelEngine(transport, {
    name: 'cuda',
    addon,
    takesGpuPointers: true,
    ...(options.stallTicks !== undefined && { stallTicks: options.stallTicks }),
    create: (onWake) => addon.createEngine(handle, native, onWake),
    explain: (error, window) => explained(error, window),
  })
  session.engines.add(engine)
  return engine
}

/** Converts an error of native code to one of this package. */
function explained(error: ExecutorError, window: BarWindow): Error {
  const { call, result, resultCode, description, what, address = 0n, lengthBytes = 0 } = error
  const attempt =
    what === undefined
      ? 'Making queues accessible to the GPU'
      : `Registering ${lengthBytes} bytes of ${what} at 0x${address.toString(16)}`
  const refused = new CudaCallError({ attempt, call, name: result, description, result: resultCode, facts: [] })
  const isRegistration = ['cuMemHostRegister_v2', 'cuMemHostGetDevicePointer_v2'].includes(call)
  if (!isRegistration || what === undefined) return refused
  const kind = what === 'doorbells' && window.isMemory !== true ? 'registers' : 'memory'
  return new CudaRegistrationError(refused, explainRegistration({ kind, address, lengthBytes }))
}
