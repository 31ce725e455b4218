import type { DeviceMemory } from '@gpunvme/nvme-spec/transport'
import { CudaTimeoutError } from './errors.js'
import { DEFAULT_TIMEOUT_NS, finished, isSettled, type CudaSession } from './session.js'

/** Pinned host memory that the GPU can access, until `free` or until its GPU is closed. */
export class PinnedMemory {
  readonly lengthBytes: number
  /** Address for the host. */
  readonly address: bigint
  /** Address for kernels. */
  readonly gpuPointer: bigint
  readonly #session: CudaSession
  readonly #handle: number
  #buffer: ArrayBuffer | undefined

  /** Use `Cuda.allocPinned`. */
  constructor(session: CudaSession, lengthBytes: number) {
    this.#session = session
    this.#handle = session.addon.allocPinned(session.handle, lengthBytes)
    this.lengthBytes = lengthBytes
    ;[this.address, this.gpuPointer] = session.addon.describe(this.#handle)
  }

  /** The memory as an ArrayBuffer; empty after `free`. @throws TypeError if first accessed after `free`. */
  get buffer(): ArrayBuffer {
    return (this.#buffer ??= this.#session.addon.buffer(this.#handle))
  }

  /** Frees the memory and empties `buffer`. The driver first waits for running kernels. @throws TypeError if already freed. */
  free(): void {
    this.#session.addon.free(this.#handle)
  }
}

/** Host memory, or a controller's registers, that the GPU can access until `unregister`. */
export class HostRegistration {
  readonly address: bigint
  readonly lengthBytes: number
  /** Address for kernels. */
  readonly gpuPointer: bigint
  readonly #session: CudaSession
  readonly #handle: number

  /** Use `Cuda.register` and `Cuda.registerIo`. */
  constructor(session: CudaSession, address: bigint, lengthBytes: number, io: boolean) {
    this.#session = session
    this.#handle = session.addon.register(session.handle, address, lengthBytes, io)
    this.address = address
    this.lengthBytes = lengthBytes
    this.gpuPointer = session.addon.describe(this.#handle)[1]
  }

  /** Ends the GPU's access. Call it before the memory is unmapped. @throws TypeError if already unregistered. */
  unregister(): void {
    this.#session.addon.free(this.#handle)
  }
}

/** Memory on the GPU. */
export class GpuMemory implements DeviceMemory {
  readonly lengthBytes: number
  readonly gpuPointer: bigint
  readonly #session: CudaSession
  readonly #handle: number
  #underWay = 0

  /** Use `Cuda.allocDevice`. */
  constructor(session: CudaSession, lengthBytes: number) {
    this.#session = session
    this.#handle = session.addon.allocDevice(session.handle, lengthBytes)
    this.lengthBytes = lengthBytes
    this.gpuPointer = session.addon.describe(this.#handle)[1]
  }

  /** Sets bytes, by default all. Resolves when they are set. @throws RangeError for a range outside the memory. */
  async fill(byte: number, offsetBytes = 0, lengthBytes = this.lengthBytes - offsetBytes): Promise<void> {
    const { addon, stream } = this.#session
    await this.use(stream, `Filling ${lengthBytes} bytes of GPU memory`, DEFAULT_TIMEOUT_NS, (handle) =>
      addon.fill(stream, handle, offsetBytes, lengthBytes, byte),
    )
  }

  /** Returns a copy of bytes, by default all. For checks: each call pins memory for its copy. */
  async read(offsetBytes = 0, lengthBytes = this.lengthBytes - offsetBytes): Promise<Uint8Array> {
    if (lengthBytes === 0) return new Uint8Array(0)
    const { addon, stream } = this.#session
    const pinned = new PinnedMemory(this.#session, lengthBytes)
    try {
      await this.use(stream, `Reading ${lengthBytes} bytes of GPU memory`, DEFAULT_TIMEOUT_NS, (handle) =>
        addon.copyOut(stream, handle, offsetBytes, lengthBytes, pinned.address),
      )
    } catch (error) {
      // After a time-out the GPU may still write to it: it stays until the GPU is closed.
      if (!(error instanceof CudaTimeoutError)) pinned.free()
      throw error
    }
    const bytes = new Uint8Array(pinned.buffer).slice()
    pinned.free()
    return bytes
  }

  /**
   * Starts work on this memory in a stream and waits for it; the memory cannot be freed meanwhile. After a time-out it is
   * freed only when its GPU is closed.
   */
  async use(stream: number, attempt: string, timeoutNs: number, start: (handle: number) => void): Promise<void> {
    start(this.#handle)
    this.#underWay++
    if (!(await this.#isDone(stream, timeoutNs))) throw new CudaTimeoutError(attempt, timeoutNs)
    this.#underWay--
  }

  /**
   * Like `use`, but blocks until the work is done: for short work in a stream without kernels.
   * @throws CudaTimeoutError, with the same effect as that of `use`; CudaCallError
   */
  useNow(stream: number, attempt: string, timeoutNs: number, start: (handle: number) => void): void {
    start(this.#handle)
    if (isSettled(this.#session, stream, timeoutNs)) return
    this.#underWay++
    throw new CudaTimeoutError(attempt, timeoutNs)
  }

  /**
   * Copies from the memory of any GPU, in a stream of either GPU, and waits for it. Neither memory can be freed meanwhile.
   * @throws as `use`
   */
  async copyFrom(
    from: GpuMemory,
    fromBytes: number,
    toBytes: number,
    lengthBytes: number,
    stream: number,
    timeoutNs: number,
  ): Promise<void> {
    const { addon } = this.#session
    const attempt = `Copying ${lengthBytes} bytes from GPU to GPU`
    const source = from.#handle
    from.#underWay++
    try {
      await this.use(stream, attempt, timeoutNs, (handle) =>
        addon.copyPeer(stream, handle, toBytes, source, fromBytes, lengthBytes),
      )
    } catch (error) {
      // After a time-out the source may still be read.
      if (!(error instanceof CudaTimeoutError)) from.#underWay--
      throw error
    }
    from.#underWay--
  }

  /** Returns whether the memory belongs to this GPU. */
  isOf(session: CudaSession): boolean {
    return this.#session === session
  }

  /**
   * Frees the memory. The driver first waits for running kernels, so this blocks while a persistent one runs.
   * @throws TypeError if already freed, and while copies from or to it are in progress.
   */
  free(): void {
    if (this.#underWay > 0) {
      throw new TypeError(
        `memory: expected memory that is not in use, got memory with ${this.#underWay} copies in progress`,
      )
    }
    this.#session.addon.free(this.#handle)
  }

  async #isDone(stream: number, timeoutNs: number): Promise<boolean> {
    try {
      return await finished(this.#session, stream, timeoutNs)
    } catch (error) {
      // `finished` rejects only after the work has ended.
      this.#underWay--
      throw error
    }
  }
}
