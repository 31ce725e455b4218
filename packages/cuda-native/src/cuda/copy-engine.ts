import type { CopyEngine, DmaMemory } from '@gpunvme/nvme-spec/transport'
import { GpuMemory, HostRegistration } from './memory.js'
import { DEFAULT_TIMEOUT_NS, type CudaSession } from './session.js'
import { CudaStream } from './stream.js'

/** How copies are made. */
export interface CopyEngineOptions {
  /** For each copy, from when it is asked for, with those before it; 30 s when not given. */
  readonly timeoutNs?: number
}

interface Registered {
  readonly buffer: WeakRef<ArrayBufferLike>
  readonly registration: HostRegistration
}

/**
 * Tier 1's second hop on a stream of its own, beside the kernels. Host memory is registered with the GPU at its first
 * copy, with the whole ArrayBuffer that it is a part of: registering takes longer than a copy, and two registrations
 * cannot share a page.
 */
export class CudaCopyEngine implements CopyEngine {
  readonly #session: CudaSession
  readonly #pinned: WeakSet<ArrayBufferLike>
  readonly #stream: CudaStream
  readonly #timeoutNs: number
  /** Nobody else may refer to the memory that is copied from: it must not be collected. */
  readonly #underWay = new Set<{ readonly from: DmaMemory }>()
  #registered: Registered[] = []

  /** Use `Cuda.copyEngine`. `pinned` are the ArrayBuffers that need no registration. */
  constructor(session: CudaSession, pinned: WeakSet<ArrayBufferLike>, { timeoutNs }: CopyEngineOptions = {}) {
    this.#session = session
    this.#pinned = pinned
    this.#timeoutNs = timeoutNs ?? DEFAULT_TIMEOUT_NS
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
    this.#register(view.buffer)
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

  /**
   * Ends the registration of the ArrayBuffer that `memory` is a part of: before it is unmapped, while its GPU stays
   * open. Nothing may be under way from it.
   */
  forget(memory: DmaMemory): void {
    this.#unregister((buffer) => buffer === memory.view?.buffer)
  }

  /** Ends its stream and its registrations. @throws TypeError the second time, and while copies are under way. */
  close(): void {
    this.#stream.close()
    this.#unregister(() => true)
  }

  #register(buffer: ArrayBufferLike): void {
    if (this.#pinned.has(buffer)) return
    if (this.#registered.some((each) => each.buffer.deref() === buffer)) return
    // What is gone may have left its addresses to this one.
    this.#unregister((each) => each === undefined || each.byteLength === 0)
    const address = this.#session.addon.addressOf(new Uint8Array(buffer))
    const registration = new HostRegistration(this.#session, address, buffer.byteLength, false)
    this.#registered.push({ buffer: new WeakRef(buffer), registration })
  }

  #unregister(isMeant: (buffer: ArrayBufferLike | undefined) => boolean): void {
    const ended = this.#registered.filter(({ buffer }) => isMeant(buffer.deref()))
    this.#registered = this.#registered.filter((each) => !ended.includes(each))
    for (const { registration } of ended) registration.unregister()
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
