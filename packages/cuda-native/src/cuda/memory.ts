import type { DeviceMemory } from '@gpunvme/nvme-spec/transport'
import { CudaTimeoutError } from './errors.js'
import { DEFAULT_TIMEOUT_NS, finished, isSettled, type CudaSession } from './session.js'

/** Memory of the host that the GPU reaches by DMA. It is the process's until `free`, or until its GPU is closed. */
export class PinnedMemory {
  readonly lengthBytes: number
  /** Where the host has it. */
  readonly address: bigint
  /** Where kernels have it. */
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

  /** Its bytes. Empty after `free`. @throws TypeError where it is first asked for after that. */
  get buffer(): ArrayBuffer {
    return (this.#buffer ??= this.#session.addon.buffer(this.#handle))
  }

  /** Gives it back: `buffer` is empty then. The driver waits for the GPU first. @throws TypeError the second time. */
  free(): void {
    this.#session.addon.free(this.#handle)
  }
}

/** Memory of this process, or a controller's registers, that the GPU reaches until `unregister`. */
export class HostRegistration {
  readonly address: bigint
  readonly lengthBytes: number
  /** Where kernels have it. */
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

  /** The GPU reaches it no more. To be done before the memory is unmapped. @throws TypeError the second time. */
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

  /** Sets bytes; all of them when no part is given. Resolves when they are. @throws RangeError outside the memory. */
  async fill(byte: number, offsetBytes = 0, lengthBytes = this.lengthBytes - offsetBytes): Promise<void> {
    const { addon, stream } = this.#session
    await this.use(stream, `Filling ${lengthBytes} bytes of GPU memory`, DEFAULT_TIMEOUT_NS, (handle) =>
      addon.fill(stream, handle, offsetBytes, lengthBytes, byte),
    )
  }

  /** A copy of its bytes, for checks: it goes over memory that is pinned for it alone. */
  async read(offsetBytes = 0, lengthBytes = this.lengthBytes - offsetBytes): Promise<Uint8Array> {
    if (lengthBytes === 0) return new Uint8Array(0)
    const { addon, stream } = this.#session
    const pinned = new PinnedMemory(this.#session, lengthBytes)
    try {
      await this.use(stream, `Reading ${lengthBytes} bytes of GPU memory`, DEFAULT_TIMEOUT_NS, (handle) =>
        addon.copyOut(stream, handle, offsetBytes, lengthBytes, pinned.address),
      )
    } catch (error) {
      // What the GPU may still write to stays until it is closed.
      if (!(error instanceof CudaTimeoutError)) pinned.free()
      throw error
    }
    const bytes = new Uint8Array(pinned.buffer).slice()
    pinned.free()
    return bytes
  }

  /**
   * Puts work on it into a stream and waits for it; it cannot be freed until that is done. Of a copy that does not end
   * in time nobody knows when it will: it can then only go with its GPU.
   */
  async use(stream: number, attempt: string, timeoutNs: number, start: (handle: number) => void): Promise<void> {
    start(this.#handle)
    this.#underWay++
    if (!(await this.#isDone(stream, timeoutNs))) throw new CudaTimeoutError(attempt, timeoutNs)
    this.#underWay--
  }

  /**
   * As `use`, and done when it returns: for what is short, in a stream that has no kernels.
   * @throws CudaTimeoutError, after which it is as after that of `use`; CudaCallError
   */
  useNow(stream: number, attempt: string, timeoutNs: number, start: (handle: number) => void): void {
    start(this.#handle)
    if (isSettled(this.#session, stream, timeoutNs)) return
    this.#underWay++
    throw new CudaTimeoutError(attempt, timeoutNs)
  }

  /**
   * Copies from memory of any GPU into this one, in a stream of either, and waits for it. Neither can be freed until that
   * is done. @throws as `use`
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
      // Nobody knows when it will have been read.
      if (!(error instanceof CudaTimeoutError)) from.#underWay--
      throw error
    }
    from.#underWay--
  }

  /** Whether it belongs to that GPU. */
  isOf(session: CudaSession): boolean {
    return this.#session === session
  }

  /**
   * Gives it back. The driver waits for the GPU first: not while a kernel runs that does not end.
   * @throws TypeError the second time, and while copies from or to it are under way.
   */
  free(): void {
    if (this.#underWay > 0) {
      throw new TypeError(`memory: expected memory that nothing uses, got one with ${this.#underWay} copies under way`)
    }
    this.#session.addon.free(this.#handle)
  }

  async #isDone(stream: number, timeoutNs: number): Promise<boolean> {
    try {
      return await finished(this.#session, stream, timeoutNs)
    } catch (error) {
      // `finished` rejects when nothing is under way any more.
      this.#underWay--
      throw error
    }
  }
}
