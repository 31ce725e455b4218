import { GpuNvmeError } from '@gpunvme/nvme-spec'
import { checkOptions, fit, show, timeout } from '../arguments.js'
import { CudaCopyEngine, type CopyEngineOptions } from './copy-engine.js'
import { findDriver, UNAVAILABLE, type CudaObstacle, type CudaUnavailable } from './driver.js'
import { CudaBusyError, CudaCallError, CudaRegistrationError, CudaTimeoutError } from './errors.js'
import { encodeArguments, kernelParameters, type KernelArgument } from './kernels.js'
import { GpuMemory, HostRegistration, PinnedMemory } from './memory.js'
import { RegisteredBuffers } from './registered-buffers.js'
import { registrationFacts } from './registration-facts.js'
import { becomesIdle, Engines, isAtRest, type CudaSession } from './session.js'
import { CudaStream } from './stream.js'

/** Blocks of a grid, or threads of a block: one number, or x, y and z. */
export type Extent = number | readonly [x: number, y: number, z: number]

/** Which GPU. */
export interface CudaOptions {
  /** The driver's number of it, as `cudaStatus().devices` has it; 0 when not given. CUDA_VISIBLE_DEVICES counts. */
  readonly device?: number
}

/**
 * Opens a GPU in its primary context, which other users of CUDA in this process share. Whatever is called of it makes that
 * context current in the calling thread and leaves it so, until `close`, which leaves none: native code in the same thread
 * that uses CUDA too has to set its own. The first call of this package that asks the driver anything sets
 * CUDA_MODULE_LOADING=EAGER in the environment where it is not set.
 * @throws NativeAddonError without the addon; CudaUnavailableError without a driver, or a GPU; RangeError for a device
 *   that there is not; CudaCallError where the driver refuses.
 */
export function openCuda(options: CudaOptions = {}): Cuda {
  checkOptions('openCuda', options, { device: fit('a number', (value) => typeof value === 'number') })
  const { device = 0 } = options
  const found = findDriver()
  if (found.state === 'addon-missing') throw found.cause
  if (found.state !== 'available') throw new CudaUnavailableError(found)
  const { addon, library, devices } = found
  if (!Number.isInteger(device) || device < 0 || device >= devices.length) {
    throw new RangeError(`device: expected an integer from 0 to ${devices.length - 1}, got ${device}`)
  }
  const handle = addon.open(library, device)
  try {
    const [major, minor] = devices[device]!.attributes
    const computeCapability = [major!, minor!] as const
    const [stream, waits, engines] = [addon.createStream(handle), new Set<Promise<unknown>>(), new Engines()]
    return new Cuda({ addon, handle, computeCapability, stream, waits, engines })
  } catch (error) {
    addon.close(handle)
    throw error
  }
}

const sessions = new WeakMap<Cuda, CudaSession>()

/**
 * What engines of this package need of a GPU: the addon, and the handle that `SessionOf` of native/cuda takes.
 * @throws TypeError for anything else, and for a GPU that was closed.
 */
export function sessionOf(cuda: Cuda): CudaSession {
  const session = sessions.get(cuda)
  if (session !== undefined) return session
  const got = (cuda as unknown) instanceof Cuda ? 'one that was closed' : show(cuda)
  throw new TypeError(`cuda: expected a GPU that is open, as openCuda() gives it, got ${got}`)
}

/** What closing a GPU found out. */
export interface ClosedCuda {
  /** Work on the GPU went wrong, and its context was dead: this process cannot use CUDA any more. Absent otherwise. */
  readonly death?: CudaCallError
}

/** An open GPU. Whatever is made here goes with it at the latest. Use `openCuda`. */
export class Cuda {
  readonly #session: CudaSession
  readonly #kernels = new Map<string, readonly number[]>()
  readonly #registered: RegisteredBuffers
  #closing: Promise<ClosedCuda> | undefined

  /** Use `openCuda`. */
  constructor(session: CudaSession) {
    this.#session = session
    this.#registered = new RegisteredBuffers(session)
    sessions.set(this, session)
  }

  /** Memory of the host that both reach. @throws CudaCallError where there is none left. */
  allocPinned(lengthBytes: number): PinnedMemory {
    const memory = new PinnedMemory(this.#session, lengthBytes)
    try {
      this.#registered.addPinned(memory.buffer)
    } catch (error) {
      memory.free()
      throw error
    }
    return memory
  }

  /** Memory on the GPU. @throws CudaCallError where there is none left. */
  allocDevice(lengthBytes: number): GpuMemory {
    return new GpuMemory(this.#session, lengthBytes)
  }

  /**
   * Lets the GPU reach memory of this process, by its address or by a view of it, until `unregister`.
   * @throws RangeError for more bytes than the view has; CudaCallError where the driver refuses.
   */
  register(memory: bigint | ArrayBufferView, lengthBytes?: number): HostRegistration {
    if (typeof memory === 'bigint') return new HostRegistration(this.#session, memory, lengthBytes!, false)
    const length = lengthBytes ?? memory.byteLength
    if (length > memory.byteLength) {
      throw new RangeError(`lengthBytes: expected at most the ${memory.byteLength} of the view, got ${length}`)
    }
    return new HostRegistration(this.#session, this.#session.addon.addressOf(memory), length, false)
  }

  /**
   * Lets the GPU reach a controller's registers, mapped into this process at `address`, until `unregister`: it may then
   * write doorbells. Registers that are mapped through VFIO must have been read once, a register in each page. On GPUs
   * from compute capability 10.0 (Blackwell) on this has frozen a machine; `cudaEngine` refuses to, and this does not.
   * @throws CudaRegistrationError where the driver refuses, with what that depends on.
   */
  registerIo(address: bigint, lengthBytes: number): HostRegistration {
    try {
      return new HostRegistration(this.#session, address, lengthBytes, true)
    } catch (error) {
      if (!(error instanceof CudaCallError)) throw error
      if (!['cuMemHostRegister_v2', 'cuMemHostGetDevicePointer_v2'].includes(error.call)) throw error
      throw new CudaRegistrationError(error, registrationFacts(address, lengthBytes))
    }
  }

  /**
   * Exports GPU memory as a dma-buf, for another driver; gives its descriptor, which the caller closes.
   * @throws CudaCallError where the driver does not: `cudaStatus` has `canExportDmaBuf`.
   */
  exportDmaBuf(gpuPointer: bigint, lengthBytes: number): number {
    return this.#session.addon.exportDmaBuf(this.#session.handle, gpuPointer, lengthBytes)
  }

  /** Compiles the kernels of a PTX text for this GPU. They stay until it is closed. @throws CudaCallError */
  loadKernels(ptx: Uint8Array): void {
    const kernels = kernelParameters(new TextDecoder().decode(ptx))
    this.#session.addon.loadKernels(this.#session.handle, ptx, [...kernels.keys()])
    for (const [name, sizes] of kernels) this.#kernels.set(name, sizes)
  }

  /**
   * Starts a kernel and returns at once; `stream.finished()` waits for it. Without a stream it runs in the GPU's own.
   * @throws TypeError for a kernel that was not loaded, or arguments that are not its; RangeError for extents that
   *   cannot be; CudaCallError.
   */
  launch(name: string, grid: Extent, block: Extent, args: readonly KernelArgument[], stream?: CudaStream): void {
    const sizes = this.#kernels.get(name)
    if (sizes === undefined) {
      throw new TypeError(`name: expected one of ${[...this.#kernels.keys()].join(', ') || 'no kernels'}, got ${name}`)
    }
    if (stream !== undefined && !stream.isOf(this.#session)) {
      throw new TypeError('stream: expected one of the same GPU, got that of another')
    }
    const bytes = encodeArguments(name, sizes, args)
    const { addon, stream: own } = this.#session
    addon.launch(stream?.handle ?? own, name, extentOf(grid), extentOf(block), bytes)
  }

  /** A stream beside the others. @throws CudaCallError */
  stream(): CudaStream {
    return new CudaStream(this.#session)
  }

  /** Copies to GPU memory, on a stream of its own. @throws CudaCallError */
  copyEngine(options?: CopyEngineOptions): CudaCopyEngine {
    return new CudaCopyEngine(this.#session, this.#registered, options)
  }

  /**
   * Waits until the GPU has nothing to do here, and undoes all that was made: kernels, registrations, memory, streams.
   * What was registered must still be mapped. Engines with queues here are not waited for: close their controllers
   * before. Where the GPU does not come to an end within `timeoutNs`, 5 s when not given, it is still open, with all its
   * memory: it may be writing there. Closing it again is harmless.
   *
   * Where a kernel went wrong, so that the context is dead and nothing runs in it any more, all is given back as far as
   * the driver does it, engines or not: it resolves, and `death` says what it was.
   * @throws CudaBusyError at once where an engine has queues here, and CudaTimeoutError: it is open still. CudaCallError
   *   where something went wrong on the way: it is closed then. TypeError, RangeError for wrong options.
   */
  close(options: { readonly timeoutNs?: number } = {}): Promise<ClosedCuda> {
    return (this.#closing ??= this.#close(options).catch((error: unknown) => {
      // Whatever else was thrown, it is open still.
      if (error instanceof CudaCallError) sessions.delete(this)
      else this.#closing = undefined
      throw error
    }))
  }

  async #close(options: { readonly timeoutNs?: number }): Promise<ClosedCuda> {
    checkOptions('close', options, { timeoutNs: timeout })
    const { timeoutNs = 5e9 } = options
    const { addon, handle, waits, engines } = this.#session
    // With queues somewhere, nothing rests but a context that is dead.
    if (engines.attached > 0 && !isAtRest(this.#session)) throw new CudaBusyError(engines.attached)
    if (!(await becomesIdle(this.#session, timeoutNs))) throw new CudaTimeoutError('Closing the GPU', timeoutNs)
    // The watcher has events in the context until it has seen them; nothing is left that they could wait for.
    await Promise.allSettled(waits)
    const death = addon.close(handle)
    sessions.delete(this)
    return death === undefined ? {} : { death }
  }
}

function extentOf(extent: Extent): readonly number[] {
  return typeof extent === 'number' ? [extent, 1, 1] : extent
}

/** There is no GPU that this process could use: `state` says what is missing, as `cudaStatus` does. */
export class CudaUnavailableError extends GpuNvmeError {
  readonly code: (typeof UNAVAILABLE)[CudaObstacle]
  readonly category = 'not-found'
  readonly state: CudaObstacle

  constructor({ state, message, facts, next, cause }: CudaUnavailable) {
    super(message, { facts, next, cause })
    this.state = state
    this.code = UNAVAILABLE[state]
  }
}
