import { CudaTimeoutError } from './errors.js'
import { DEFAULT_TIMEOUT_NS, finished, type CudaSession } from './session.js'

/** Work for the GPU that is done in the order in which it is put here, beside that of other streams. */
export class CudaStream {
  /** What the addon knows it by. */
  readonly handle: number
  readonly #session: CudaSession

  /** Use `Cuda.stream`. */
  constructor(session: CudaSession) {
    this.#session = session
    this.handle = session.addon.createStream(session.handle)
  }

  /**
   * Resolves when all that was put here until now is done. The event loop goes on meanwhile.
   * @throws CudaTimeoutError after `timeoutNs`; CudaCallError where the work, or anything before it, has failed.
   */
  async finished(timeoutNs = DEFAULT_TIMEOUT_NS): Promise<void> {
    const done = await finished(this.#session, this.handle, timeoutNs)
    if (!done) throw new CudaTimeoutError('Work on the GPU', timeoutNs)
  }

  /** Whether it belongs to that GPU. */
  isOf(session: CudaSession): boolean {
    return this.#session === session
  }

  /** Ends it. @throws TypeError the second time, and while it has work. */
  close(): void {
    this.#session.addon.free(this.handle)
  }
}
