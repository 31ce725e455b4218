import { CudaTimeoutError } from './errors.js'
import { CudaGraph } from './graph.js'
import { DEFAULT_TIMEOUT_NS, finished, type CudaSession } from './session.js'

/** A queue of work for the GPU, done in order and concurrently with other streams. */
export class CudaStream {
  /** Handle in the addon. */
  readonly handle: number
  readonly #session: CudaSession

  /** Use `Cuda.stream`. */
  constructor(session: CudaSession) {
    this.#session = session
    this.handle = session.addon.createStream(session.handle)
  }

  /**
   * Resolves when the current work has ended, without blocking the event loop.
   * @throws CudaTimeoutError after `timeoutNs`; CudaCallError if this work, or any before it, failed.
   */
  async finished(timeoutNs = DEFAULT_TIMEOUT_NS): Promise<void> {
    const done = await finished(this.#session, this.handle, timeoutNs)
    if (!done) throw new CudaTimeoutError('Work on the GPU', timeoutNs)
  }

  /**
   * Records the kernels that `record` launches in this stream, instead of running them. `record` must be synchronous and only
   * launch kernels: other work in this stream, allocations and frees make the recording fail.
   * @throws TypeError if `record` is asynchronous; CudaCallError; errors of `record`. Nothing is recorded then.
   */
  capture(record: () => unknown): CudaGraph {
    const { addon } = this.#session
    addon.beginCapture(this.handle)
    try {
      // An asynchronous function returns before it has launched everything.
      if (record() instanceof Promise) {
        throw new TypeError('record: expected a synchronous function, got one that returned a promise')
      }
    } catch (error) {
      try {
        addon.discardCapture(this.handle)
      } catch {
        // The first error is the cause. A stream that still records reports it at its next use.
      }
      throw error
    }
    return new CudaGraph(this.#session, addon.endCapture(this.handle))
  }

  /** Returns whether the stream belongs to this GPU. */
  isOf(session: CudaSession): boolean {
    return this.#session === session
  }

  /** Closes the stream. @throws TypeError if already closed, and while it has work. */
  close(): void {
    this.#session.addon.free(this.handle)
  }
}
