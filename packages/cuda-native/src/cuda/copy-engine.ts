import type { CopyEngine, DmaMemory } from '@gpunvme/nvme-spec/transport'
import { checkOptions, timeout } from '../arguments.js'
import { CudaTimeoutError } from './errors.js'
import { GpuMemory, PinnedMemory } from './memory.js'
import type { CopyPiece, RegisteredBuffers } from './registered-buffers.js'
import { DEFAULT_TIMEOUT_NS, type CudaSession } from './session.js'
import { CudaStream } from './stream.js'

/** Options of `Cuda.copyEngine`. */
export interface CopyEngineOptions {
  /** Time limit for each copy, from its call on and including earlier copies. Default: 30 s. */
  readonly timeoutNs?: number
}

/**
 * Copies from host to GPU memory on a stream of its own, concurrently with kernels: the second hop of tier 1. Host memory is
 * registered with the GPU at its first copy, which takes longer than a copy, and stays registered until `forget` or until
 * the GPU is closed. Memory that other code registered in part is copied through pinned memory.
 */
export class CudaCopyEngine implements CopyEngine {
  readonly #session: CudaSession
  readonly #registered: RegisteredBuffers
  readonly #stream: CudaStream
  readonly #timeoutNs: number
  /** Keeps the source of each copy from being collected. */
  readonly #underWay = new Set<{ readonly from: DmaMemory; readonly staged: PinnedMemory | undefined }>()

  /** Use `Cuda.copyEngine`. */
  constructor(session: CudaSession, registered: RegisteredBuffers, options: CopyEngineOptions = {}) {
    checkOptions('copyEngine', options, { timeoutNs: timeout })
    this.#session = session
    this.#registered = registered
    this.#timeoutNs = options.timeoutNs ?? DEFAULT_TIMEOUT_NS
    this.#stream = new CudaStream(session)
  }

  /** Allocates memory on the GPU. @throws CudaCallError if memory is exhausted. */
  alloc(lengthBytes: number): GpuMemory {
    return new GpuMemory(this.#session, lengthBytes)
  }

  /**
   * Copies from host to GPU memory. Any number of copies can be in progress; they complete in the order of the calls.
   * @throws RangeError for a range outside either memory; TypeError for a source without a view, or for memory that was freed
   *   or belongs to another GPU; CudaTimeoutError; CudaCallError.
   */
  async copy(from: DmaMemory, fromBytes: number, to: GpuMemory, toBytes: number, lengthBytes: number): Promise<void> {
    const { view } = from
    if (view === undefined)
      throw new TypeError('from: expected memory with a view, got memory that the host cannot access')
    if (!(to instanceof GpuMemory) || !to.isOf(this.#session)) {
      throw new TypeError('to: expected memory of the same GPU, got other memory')
    }
    checkPart('fromBytes', fromBytes, lengthBytes, from.lengthBytes)
    checkPart('toBytes', toBytes, lengthBytes, to.lengthBytes)
    if (lengthBytes === 0) return
    from.forHost(fromBytes, lengthBytes)
    const pieces = this.#registered.piecesOf(view, fromBytes, lengthBytes)
    const copy = { from, staged: this.#stage(view, pieces) }
    this.#underWay.add(copy)
    let isOver = true
    try {
      await this.#copyPieces(pieces, copy.staged, to, toBytes, lengthBytes)
    } catch (error) {
      // After a time-out the GPU may still read it: it stays until the GPU is closed.
      isOver = !(error instanceof CudaTimeoutError)
      throw error
    } finally {
      this.#underWay.delete(copy)
      if (isOver) copy.staged?.free()
    }
  }

  /** Returns pinned memory with the concatenated bytes of the pieces that the driver refuses; undefined if there are none. */
  #stage(view: DataView, pieces: readonly CopyPiece[]): PinnedMemory | undefined {
    const mixed = pieces.filter(({ isMixed }) => isMixed)
    if (mixed.length === 0) return undefined
    const lengthBytes = mixed.reduce((sum, { from, to }) => sum + Number(to - from), 0)
    const staged = new PinnedMemory(this.#session, lengthBytes)
    const bytes = new Uint8Array(staged.buffer)
    const start = this.#session.addon.addressOf(view)
    let at = 0
    for (const { from, to } of mixed) {
      const length = Number(to - from)
      bytes.set(new Uint8Array(view.buffer, view.byteOffset + Number(from - start), length), at)
      at += length
    }
    return staged
  }

  async #copyPieces(
    pieces: readonly CopyPiece[],
    staged: PinnedMemory | undefined,
    to: GpuMemory,
    toBytes: number,
    lengthBytes: number,
  ): Promise<void> {
    const { addon } = this.#session
    const stream = this.#stream.handle
    const refused: unknown[] = []
    await to.use(stream, `Copying ${lengthBytes} bytes to GPU memory`, this.#timeoutNs, (handle) => {
      let [at, next] = [toBytes, staged?.address ?? 0n]
      for (const { from, to: end, isMixed } of pieces) {
        const length = Number(end - from)
        try {
          addon.copyIn(stream, handle, at, length, isMixed ? next : from)
        } catch (error) {
          if (at === toBytes) throw error
          // Earlier pieces are in progress and must be waited for.
          refused.push(error)
          return
        }
        at += length
        if (isMixed) next += BigInt(length)
      }
    })
    if (refused.length > 0) throw refused[0]
  }

  /** Ends the registrations of `memory`. Call it before the memory is unmapped, and not while a copy reads from it. */
  forget(memory: DmaMemory): void {
    if (memory.view !== undefined) this.#registered.delete(memory.view.buffer)
  }

  /** Frees its stream. @throws TypeError if already closed, and while copies are in progress. */
  close(): void {
    this.#stream.close()
  }
}

function checkPart(name: string, offsetBytes: number, lengthBytes: number, whole: number): void {
  if (!Number.isInteger(lengthBytes) || lengthBytes < 0 || lengthBytes > whole) {
    throw new RangeError(`lengthBytes: expected an integer from 0 to ${whole}, got ${lengthBytes}`)
  }
  if (!Number.isInteger(offsetBytes) || offsetBytes < 0 || offsetBytes > whole - lengthBytes) {
    throw new RangeError(`${name}: expected an integer from 0 to ${whole - lengthBytes}, got ${offsetBytes}`)
  }
}
