import { GpuMemory, PinnedMemory } from '../cuda/memory.js'
import type { CudaSession } from '../cuda/session.js'

/** Limit for a copy of some kilobytes, which takes microseconds on a working GPU. */
const COPY_NS = 5e9

/** GPU memory with a copy in pinned host memory, for words that the host reads and writes even while kernels run. */
export class DeviceWords {
  readonly lengthBytes: number
  readonly gpuPointer: bigint
  /** The host's copy, zeroed. */
  readonly view: DataView
  readonly #session: CudaSession
  /** A stream without kernels, so that no copy waits for one. */
  readonly #stream: number
  readonly #memory: GpuMemory
  readonly #pinned: PinnedMemory

  /** @param stream used only for copies. @throws CudaCallError if memory is exhausted. */
  constructor(session: CudaSession, stream: number, lengthBytes: number) {
    this.lengthBytes = lengthBytes
    this.#session = session
    this.#stream = stream
    this.#pinned = new PinnedMemory(session, lengthBytes)
    try {
      this.#memory = new GpuMemory(session, lengthBytes)
    } catch (error) {
      this.#pinned.free()
      throw error
    }
    this.gpuPointer = this.#memory.gpuPointer
    this.view = new DataView(this.#pinned.buffer)
    new Uint8Array(this.#pinned.buffer).fill(0)
  }

  /** Copies bytes to the GPU. Blocks until the copy ends, some microseconds. @throws CudaCallError, CudaTimeoutError */
  store(offsetBytes = 0, lengthBytes = this.lengthBytes - offsetBytes): void {
    const from = this.#pinned.address + BigInt(offsetBytes)
    this.#memory.useNow(this.#stream, `Copying ${lengthBytes} bytes to GPU memory`, COPY_NS, (handle) =>
      this.#session.addon.copyIn(this.#stream, handle, offsetBytes, lengthBytes, from),
    )
  }

  /** Copies bytes from the GPU, like `store`. @throws CudaCallError, CudaTimeoutError */
  load(offsetBytes = 0, lengthBytes = this.lengthBytes - offsetBytes): void {
    const to = this.#pinned.address + BigInt(offsetBytes)
    this.#memory.useNow(this.#stream, `Copying ${lengthBytes} bytes from GPU memory`, COPY_NS, (handle) =>
      this.#session.addon.copyOut(this.#stream, handle, offsetBytes, lengthBytes, to),
    )
  }

  /** @throws TypeError if already freed, and after a copy that timed out. */
  free(): void {
    this.#memory.free()
    this.#pinned.free()
  }
}
