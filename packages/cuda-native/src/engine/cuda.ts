import type { BarWindow, Transport } from '@gpunvme/nvme-spec/transport'
import { checkOptions, checkTransport, flag } from '../arguments.js'
import { BlackwellRegistersError, FIRST_BLACKWELL } from '../cuda/blackwell.js'
import { sessionOf, type Cuda } from '../cuda/cuda.js'
import { CudaCallError, CudaRegistrationError } from '../cuda/errors.js'
import { loadPackageKernels } from '../cuda/package-kernels.js'
import { registrationFacts } from '../cuda/registration-facts.js'
import { clockAddress, kernelEngineChecks, lingerNsOf, type KernelEngineOptions } from './cpu-kernel.js'
import type { ExecutorError } from './engine-addon.js'
import { checkConnections, runLimitOf } from './gpu-limits.js'
import { KernelEngine } from './kernel-engine.js'
import { EngineUnsuitableError } from './unsuitable.js'

/** How the engine `cuda` is made. */
export interface CudaEngineOptions extends KernelEngineOptions {
  /** Whether a warp serves a completion queue, whose lanes write the entries of a batch side by side; false when not given. */
  readonly warp?: boolean
  /**
   * Lets a GPU of compute capability 10.0 (Blackwell) or newer reach a drive's registers, which is refused otherwise: it
   * froze the one machine of which it is reported. Nothing that this process does afterwards helps then. False when not
   * given; registers that are memory, as a simulator's, are no matter.
   */
  readonly riskBlackwellRegisters?: boolean
}

/** How long a kernel polls for another plan before it ends: several times what starting one takes. */
const LINGER_NS = 200_000

/**
 * The engine `cuda`: a kernel of one thread for each completion queue builds entries, rings doorbells and polls for
 * completions, with no CPU between. Queues are memory of the host that the GPU reaches, or GPU memory where the driver
 * put them there; the registers are registered with CUDA at `attach`, which throws CudaRegistrationError where that is
 * refused. `cuda` stays open until the engine is detached. While memory of that GPU is allocated or given back, its
 * leaders pause; plans go on afterwards. `attach` throws RangeError for more completion queues than kernels can run at
 * once, which CUDA_DEVICE_MAX_CONNECTIONS says.
 * @throws RangeError for a `lingerNs` of Infinity where the GPU ends long kernels; EngineUnsuitableError for a transport whose registers native code cannot reach; BlackwellRegistersError for a
 *   drive's registers and a GPU that is not known to bear them; CudaCallError for a GPU that
 *   the kernels are not for.
 */
export function cudaEngine(
  transport: Pick<Transport, 'bar' | 'clock' | 'name'>,
  cuda: Cuda,
  options: CudaEngineOptions = {},
): KernelEngine {
  checkTransport(transport)
  checkOptions('cudaEngine', options, { ...kernelEngineChecks, warp: flag, riskBlackwellRegisters: flag })
  // Before the kernels are compiled for it.
  const { window } = transport.bar
  if (window === undefined) throw new EngineUnsuitableError('cuda', transport.name)
  const session = sessionOf(cuda)
  const { addon, handle, computeCapability } = session
  const isRisk = computeCapability[0] >= FIRST_BLACKWELL && window.isMemory !== true
  if (isRisk && options.riskBlackwellRegisters !== true) {
    throw new BlackwellRegistersError(transport.name, computeCapability)
  }
  const { connections, hasTimeLimit } = addon.limits(handle)
  const lingerNs = lingerNsOf(options, LINGER_NS)
  const runLimitNs = runLimitOf(options.lingerNs === Infinity, hasTimeLimit)
  const native = { lingerNs, runLimitNs, clock: clockAddress(addon, options), warp: options.warp ?? false }
  loadPackageKernels(cuda)
  const engine = new KernelEngine(transport, {
    name: 'cuda',
    addon,
    takesGpuPointers: true,
    ...(options.silentTicks !== undefined && { silentTicks: options.silentTicks }),
    check: (leaders) => checkConnections(leaders, connections, options.lingerNs === Infinity),
    create: (onWake) => addon.createEngine(handle, native, onWake),
    explain: (error, window) => explained(error, window),
  })
  session.engines.add(engine)
  return engine
}

/** What the driver refused, as this package's errors say it. */
function explained(error: ExecutorError, window: BarWindow): Error {
  const { call, result, resultCode, description } = error
  const attempt = 'Giving queues to the GPU'
  const refused = new CudaCallError({ attempt, call, name: result, description, result: resultCode, facts: [] })
  const isRegistration = ['cuMemHostRegister_v2', 'cuMemHostGetDevicePointer_v2'].includes(call)
  if (!isRegistration || window.isMemory === true) return refused
  return new CudaRegistrationError(refused, registrationFacts(window.address, window.lengthBytes))
}
