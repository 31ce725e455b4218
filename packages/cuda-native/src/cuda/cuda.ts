import { GpuNvmeError } from '@gpunvme/nvme-spec'
import { checkOptions, fit, show, timeout } from '../arguments.js'
import { CudaCopyEngine, type CopyEngineOptions } from './copy-engine.js'
import { findDriver, UNAVAILABLE, type CudaObstacle, type CudaUnavailable } from './driver.js'
import { CudaBusyError, CudaCallError, CudaRegistrationError, CudaTimeoutError } from './errors.js'
import { encodeArguments, kernelParameters, type KernelArgument } from './kernels.js'
import { GpuMemory, HostRegistration, PinnedMemory } from './memory.js'
import { RegisteredBuffers } from './registered-buffers.js'
import { explainRegistration } from './registration-facts.js'
import { becomesIdle, Engines, type CudaSession } from './session.js'
import { CudaStream } from './stream.js'

/** Number of blocks in a grid or threads in a block: one number, or x, y and z. */
export type Extent = number | readonly [x: number, y: number, z: number]

/** Options of `openCuda`. */
export interface CudaOptions {
  /** The driver's number of the GPU, as in `cudaStatus().devices`; affected by CUDA_VISIBLE_DEVICES. Default: 0. */
  readonly device?: number
}

/**
 * Opens a GPU in its primary context, which other users of CUDA in this process share. Every method makes that context
 * current in the calling thread and leaves it current; `close` leaves none current. Other native code in the thread must set
 * its own context. The first call to the driver sets CUDA_MODULE_LOADING=EAGER in the environment unless it is set.
 * @throws NativeAddonError if the addon cannot be loaded; CudaUnavailableError without a driver or a GPU; RangeError for an
 *   invalid device number; CudaCallError if the driver refuses.
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
 * Returns the session of a GPU for engines: the addon, and the handle for `SessionOf` of native/cuda.
 * @throws TypeError for other values, and for a closed GPU.
 */
export function sessionOf(cuda: Cuda): CudaSession {
  const session = sessions.get(cuda)
  if (session !== undefined) return session
  const got = (cuda as unknown) instanceof Cuda ? 'a closed one' : show(cuda)
  throw new TypeError(`cuda: expected an open GPU from openCuda(), got ${got}`)
}

/** Result of closing a GPU. */
export interface ClosedCuda {
  /** The error that made the GPU's context unusable, if one did: this process must be restarted to use CUDA again. */
  readonly fatalError?: CudaCallError
}

/** An open GPU, created by `openCuda`. Closing it frees everything that was created with it. */
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

  /** Allocates pinned host memory that the GPU can access. @throws CudaCallError if memory is exhausted. */
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

  /** Allocates memory on the GPU. @throws CudaCallError if memory is exhausted. */
  allocDevice(lengthBytes: number): GpuMemory {
    return new GpuMemory(this.#session, lengthBytes)
  }

  /**
   * Registers host memory, given by address or as a view, so that the GPU can access it until `unregister`.
   * @param lengthBytes required with an address; default with a view: its length.
   * @throws RangeError if the view is shorter; CudaCallError if the driver refuses.
   */
  register(memory: bigint | ArrayBufferView, lengthBytes?: number): HostRegistration {
    if (typeof memory === 'bigint') return new HostRegistration(this.#session, memory, lengthBytes!, false)
    const length = lengthBytes ?? memory.byteLength
    if (length > memory.byteLength) {
      throw new RangeError(`lengthBytes: expected at most ${memory.byteLength}, the length of the view, got ${length}`)
    }
    return new HostRegistration(this.#session, this.#session.addon.addressOf(memory), length, false)
  }

  /**
   * Registers a controller's registers, mapped into this process at `address`, so that the GPU can write doorbells until
   * `unregister`. First maps pages that VFIO would map at their first access, without accessing the registers: the device must be
   * awake with its memory space enabled, or the process gets SIGBUS. **On GPUs of compute capability 10.0 (Blackwell) or newer
   * this may freeze the machine**: `cudaEngine` refuses it by default, this method does not.
   * @throws CudaRegistrationError if the driver refuses, with the facts that this depends on.
   */
  registerIo(address: bigint, lengthBytes: number): HostRegistration {
    try {
      return new HostRegistration(this.#session, address, lengthBytes, true)
    } catch (error) {
      if (!(error instanceof CudaCallError)) throw error
      if (!['cuMemHostRegister_v2', 'cuMemHostGetDevicePointer_v2'].includes(error.call)) throw error
      throw new CudaRegistrationError(error, explainRegistration({ kind: 'registers', address, lengthBytes }))
    }
  }

  /**
   * Exports GPU memory as a dma-buf for another driver. Returns its file descriptor, which the caller closes.
   * @throws CudaCallError if the driver refuses; see `canExportDmaBuf` of `cudaStatus`.
   */
  exportDmaBuf(gpuPointer: bigint, lengthBytes: number): number {
    return this.#session.addon.exportDmaBuf(this.#session.handle, gpuPointer, lengthBytes)
  }

  /**
   * Makes earlier writes of other devices to this GPU's memory visible to the GPU, before it returns. Pass it as the option
   * `flush` of `withVram` and `negotiateTier`, for GPUs that do not order such writes.
   * @throws CudaCallError if the driver refuses, or has no cuFlushGPUDirectRDMAWrites (before CUDA 11.3).
   */
  flushWrites(): void {
    this.#session.addon.flushWrites(this.#session.handle)
  }

  /** Compiles the kernels of a PTX text for this GPU. They stay loaded until the GPU is closed. @throws CudaCallError */
  loadKernels(ptx: Uint8Array): void {
    const kernels = kernelParameters(new TextDecoder().decode(ptx))
    this.#session.addon.loadKernels(this.#session.handle, ptx, [...kernels.keys()])
    for (const [name, sizes] of kernels) this.#kernels.set(name, sizes)
  }

  /**
   * Launches a kernel and returns at once; `stream.finished()` waits for it. Without a stream, it runs in the GPU's own.
   * @throws TypeError for a kernel that is not loaded, or arguments that do not match its parameters; RangeError for invalid
   *   extents; CudaCallError.
   */
  launch(name: string, grid: Extent, block: Extent, args: readonly KernelArgument[], stream?: CudaStream): void {
    const sizes = this.#kernels.get(name)
    if (sizes === undefined) {
      throw new TypeError(`name: expected one of ${[...this.#kernels.keys()].join(', ') || 'no kernels'}, got ${name}`)
    }
    if (stream !== undefined && !stream.isOf(this.#session)) {
      throw new TypeError('stream: expected a stream of the same GPU, got one of another GPU')
    }
    const bytes = encodeArguments(name, sizes, args)
    const { addon, stream: own } = this.#session
    addon.launch(stream?.handle ?? own, name, extentOf(grid), extentOf(block), bytes)
  }

  /** Creates a stream. @throws CudaCallError */
  stream(): CudaStream {
    return new CudaStream(this.#session)
  }

  /** Creates an engine that copies to GPU memory on its own stream. @throws CudaCallError */
  copyEngine(options?: CopyEngineOptions): CudaCopyEngine {
    return new CudaCopyEngine(this.#session, this.#registered, options)
  }

  /**
   * Waits for all work on the GPU, then frees its kernels, registrations, memory and streams. Registered memory must still be
   * mapped. Close the controllers of engines with queues on this GPU first. If the GPU does not finish within `timeoutNs`
   * (default: 5 s), it stays open with all its memory, since it may still write there. Closing it twice is harmless.
   *
   * After a failed kernel has made the context unusable, everything is freed as far as the driver allows, and the promise
   * resolves with `death`, the kernel's error.
   * @throws CudaBusyError at once if an engine has queues here, and CudaTimeoutError: the GPU is still open. CudaCallError if
   *   freeing failed: the GPU is closed. TypeError, RangeError for invalid options.
   */
  close(options: { readonly timeoutNs?: number } = {}): Promise<ClosedCuda> {
    return (this.#closing ??= this.#close(options).catch((error: unknown) => {
      // After any other error it is still open.
      if (error instanceof CudaCallError) sessions.delete(this)
      else this.#closing = undefined
      throw error
    }))
  }

  async #close(options: { readonly timeoutNs?: number }): Promise<ClosedCuda> {
    checkOptions('close', options, { timeoutNs: timeout })
    const { timeoutNs = 5e9 } = options
    const { addon, handle, waits, engines } = this.#session
    if (engines.attached > 0 && !addon.isDead(handle)) throw new CudaBusyError(engines.attached)
    if (!(await becomesIdle(this.#session, timeoutNs))) throw new CudaTimeoutError('Closing the GPU', timeoutNs)
    // The watcher's events belong to the context. All work has ended, so the waits end soon.
    await Promise.allSettled(waits)
    if (addon.isDead(handle)) engines.abandon()
    const fatalError = addon.close(handle)
    sessions.delete(this)
    return fatalError === undefined ? {} : { fatalError }
  }
}

function extentOf(extent: Extent): readonly number[] {
  return typeof extent === 'number' ? [extent, 1, 1] : extent
}

/** Error: this process has no usable GPU. `state` says what is missing, as in `cudaStatus`. */
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
