import { checkOptions, timeout } from '../arguments.js'
import { sessionOf, type Cuda } from './cuda.js'
import { CudaCallError } from './errors.js'
import { GpuMemory } from './memory.js'
import { DEFAULT_TIMEOUT_NS, type CudaSession } from './session.js'
import { CudaStream } from './stream.js'

/** Options of `CudaPeerCopier`. */
export interface PeerCopierOptions {
  /** Time limit for each copy. Default: 30 s. */
  readonly timeoutNs?: number
}

/**
 * Copies from the memory of one GPU to that of another: directly if the driver enables access between them, otherwise
 * through host memory. Verify the result with `CudaPattern`: copies are known to succeed without moving data.
 */
export class CudaPeerCopier {
  /** Whether copies go directly from GPU to GPU. */
  readonly isDirect: boolean
  /** Why copies are not direct; undefined if they are. */
  readonly refusal: CudaCallError | undefined
  readonly #from: CudaSession
  readonly #to: CudaSession
  readonly #stream: CudaStream
  readonly #timeoutNs: number
  readonly #isOurs: boolean

  /**
   * @param to the GPU to copy to. In tests it may be the same GPU.
   * @throws CudaCallError if no stream can be created; TypeError for closed GPUs
   */
  constructor(from: Cuda, to: Cuda, options: PeerCopierOptions = {}) {
    checkOptions('CudaPeerCopier', options, { timeoutNs: timeout })
    this.#from = sessionOf(from)
    this.#to = sessionOf(to)
    this.#timeoutNs = options.timeoutNs ?? DEFAULT_TIMEOUT_NS
    // Copies run in a stream of the destination, which reads from the source.
    this.#stream = new CudaStream(this.#to)
    try {
      this.#isOurs = this.#to.addon.enablePeer(this.#to.handle, this.#from.handle)
      this.isDirect = true
    } catch (error) {
      if (!(error instanceof CudaCallError) || !REFUSALS.has(error.resultName)) {
        this.#stream.close()
        throw error
      }
      this.#isOurs = false
      this.isDirect = false
      this.refusal = error
    }
  }

  /**
   * Copies bytes and waits for the copy.
   * @throws TypeError for memory of other GPUs; RangeError for a range outside either memory; CudaTimeoutError, after which
   *   neither memory can be freed before its GPU is closed; CudaCallError
   */
  async copy(from: GpuMemory, fromBytes: number, to: GpuMemory, toBytes: number, lengthBytes: number): Promise<void> {
    if (!from.isOf(this.#from)) throw new TypeError('from: expected memory of the source GPU')
    if (!to.isOf(this.#to)) throw new TypeError('to: expected memory of the destination GPU')
    await to.copyFrom(from, fromBytes, toBytes, lengthBytes, this.#stream.handle, this.#timeoutNs)
  }

  /** Disables access that this copier enabled. Call it before either GPU is closed. @throws TypeError while a copy is in progress */
  close(): void {
    this.#stream.close()
    if (this.#isOurs) this.#to.addon.disablePeer(this.#to.handle, this.#from.handle)
  }
}

/** Results for GPUs that cannot access each other. Others are failures. */
const REFUSALS = new Set([
  'CUDA_ERROR_PEER_ACCESS_UNSUPPORTED',
  'CUDA_ERROR_TOO_MANY_PEERS',
  'CUDA_ERROR_NOT_SUPPORTED',
])
