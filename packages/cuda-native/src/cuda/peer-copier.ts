import { checkOptions, timeout } from '../arguments.js'
import { sessionOf, type Cuda } from './cuda.js'
import { CudaCallError } from './errors.js'
import { GpuMemory } from './memory.js'
import { DEFAULT_TIMEOUT_NS, type CudaSession } from './session.js'
import { CudaStream } from './stream.js'

/** How copies are made. */
export interface PeerCopierOptions {
  /** For each copy; 30 s when not given. */
  readonly timeoutNs?: number
}

/**
 * Copies from the memory of one GPU into that of another. Where the driver lets the one reach the other, bytes go
 * straight from device to device; where it does not, over host memory. Nothing is verified: `CudaPattern` does that.
 */
export class CudaPeerCopier {
  /** Whether the driver has opened the direct way. */
  readonly isDirect: boolean
  /** Why not, where it has not. */
  readonly refusal: CudaCallError | undefined
  readonly #from: CudaSession
  readonly #to: CudaSession
  readonly #stream: CudaStream
  readonly #timeoutNs: number
  readonly #isOurs: boolean

  /**
   * @param to may be the same GPU in tests of nothing else.
   * @throws CudaCallError where no stream can be made; TypeError for GPUs that are closed
   */
  constructor(from: Cuda, to: Cuda, options: PeerCopierOptions = {}) {
    checkOptions('CudaPeerCopier', options, { timeoutNs: timeout })
    this.#from = sessionOf(from)
    this.#to = sessionOf(to)
    this.#timeoutNs = options.timeoutNs ?? DEFAULT_TIMEOUT_NS
    // The one that reads asks: copies are in its stream.
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
   * Copies, and waits for it.
   * @throws TypeError for memory of other GPUs; RangeError outside of either; CudaTimeoutError, after which neither memory
   *   can be freed before its GPU is closed; CudaCallError
   */
  async copy(from: GpuMemory, fromBytes: number, to: GpuMemory, toBytes: number, lengthBytes: number): Promise<void> {
    if (!from.isOf(this.#from)) throw new TypeError('from: expected memory of the GPU that is copied from')
    if (!to.isOf(this.#to)) throw new TypeError('to: expected memory of the GPU that is copied to')
    await to.copyFrom(from, fromBytes, toBytes, lengthBytes, this.#stream.handle, this.#timeoutNs)
  }

  /** Closes the way again, where it was opened here. Before either GPU. @throws TypeError while a copy is under way */
  close(): void {
    this.#stream.close()
    if (this.#isOurs) this.#to.addon.disablePeer(this.#to.handle, this.#from.handle)
  }
}

/** What the driver says of GPUs that do not reach each other, and not of anything that went wrong. */
const REFUSALS = new Set([
  'CUDA_ERROR_PEER_ACCESS_UNSUPPORTED',
  'CUDA_ERROR_TOO_MANY_PEERS',
  'CUDA_ERROR_NOT_SUPPORTED',
])
