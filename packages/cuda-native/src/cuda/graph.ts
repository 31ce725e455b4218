import type { CudaSession } from './session.js'
import type { CudaStream } from './stream.js'

/** A CUDA graph: launches that `CudaStream.capture` recorded, which one call replays in order. */
export class CudaGraph {
  readonly #session: CudaSession
  readonly #handle: number

  /** Use `CudaStream.capture`. */
  constructor(session: CudaSession, handle: number) {
    this.#session = session
    this.#handle = handle
  }

  /**
   * Launches all recorded work in a stream, and returns at once; `stream.finished()` waits for it. Arguments keep
   * their recorded values: memory to which they point must still be allocated.
   * @throws TypeError for a closed graph or stream, or a stream of another GPU; CudaCallError.
   */
  launch(stream: CudaStream): void {
    if (!stream.isOf(this.#session)) {
      throw new TypeError('stream: expected a stream of the same GPU, got one of another GPU')
    }
    this.#session.addon.launchGraph(this.#handle, stream.handle)
  }

  /** Frees the graph. Launches in progress still complete. @throws TypeError if already closed. */
  close(): void {
    this.#session.addon.free(this.#handle)
  }
}
