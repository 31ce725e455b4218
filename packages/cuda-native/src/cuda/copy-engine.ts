import type { CopyEngine, DmaMemory } from '@gpunvme/nvme-spec/transport'
import { checkOptions, timeout } from '../arguments.js'
import { GpuMemory } from './memory.js'
import type { RegisteredBuffers } from './registered-buffers.js'
import { DEFAULT_TIMEOUT_NS, type CudaSession } from './session.js'
import { CudaStream } from './stream.js'

/** How copies are made. */
export interface CopyEngineOptions {
  /** For each copy, from when it is asked for, with those before it; 30 s when not given. */
  readonly timeoutNs?: number
}

/**
 * Tier 1's second hop on a stream of its own, beside the kernels. Host memory is registered with the GPU at its first
 * copy, and stays so until `forget`, or until the GPU is closed: registering takes longer than a copy.
 */
export class CudaCopyEngine implements CopyEngine {
  readonly #session: CudaSession
  readonly #registered: RegisteredBuffers
  readonly #stream: CudaStream
  readonly #timeoutNs: number
  /** Nobody else may refer to the memory that is copied from: it must not be collected. */
  readonly #underWay = new Set<{ readonly from: DmaMemory }>()

  /** Use `Cuda.copyEngine`. */
  constructor(session: CudaSession, registered: RegisteredBuffers, options: CopyEngineOptions = {}) {
    checkOptions('copyEngine', options, { timeoutNs: timeout })
    this.#session = session
    this.#registered = registered
    this.#timeoutNs = options.timeoutNs ?? DEFAULT_TIMEOUT_NS
    this.#stream = new CudaStream(session)
  }

  /** GPU memory of `lengthBytes` bytes. @throws CudaCallError where there is none left. */
  alloc(lengthBytes: number): GpuMemory {
    return new GpuMemory(this.#session, lengthBytes)
  }

  /**
   * Copies from host to GPU memory. Any number of copies may be under way; they arrive in the order of the calls.
   * @throws RangeError outside either memory; TypeError for memory of another GPU, or that the host does not see, or
   *   that was freed; CudaTimeoutError; CudaCallError.
   */
  async copy(from: DmaMemory, fromBytes: number, to: GpuMemory, toBytes: number, lengthBytes: number): Promise<void> {
    const { view } = from
    if (view === undefined) throw new TypeError('from: expected memory of the host, got memory that it does not see')
    if (!(to instanceof GpuMemory) || !to.isOf(this.#session)) {
      throw new TypeError('to: expected memory of the same GPU, got other memory')
    }
    checkPart('fromBytes', fromBytes, lengthBytes, from.lengthBytes)
    checkPart('toBytes', toBytes, lengthBytes, to.lengthBytes)
    if (lengthBytes === 0) return
    this.#registered.add(view)
    from.forHost(fromBytes, lengthBytes)
    const { addon } = this.#session
    const address = addon.addressOf(view) + BigInt(fromBytes)
    const stream = this.#stream.handle
    const copy = { from }
    this.#underWay.add(copy)
    try {
      await to.use(stream, `Copying ${lengthBytes} bytes to GPU memory`, this.#timeoutNs, (handle) =>
        addon.copyIn(stream, handle, toBytes, lengthBytes, address),
      )
    } finally {
      this.#underWay.delete(copy)
    }
  }

  /** Ends the registrations that `memory` is a part of: before it is unmapped. Nothing may be under way from there. */
  forget(memory: DmaMemory): void {
    if (memory.view !== undefined) this.#registered.delete(memory.view.buffer)
  }

  /** Ends its stream. @throws TypeError the second time, and while copies are under way. */
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
