import { CudaCallError } from './errors.js'
import { HostRegistration } from './memory.js'
import type { CudaSession } from './session.js'

interface Entry {
  readonly buffer: WeakRef<ArrayBufferLike>
  readonly from: bigint
  readonly to: bigint
  /** Absent where others have registered it, or it is pinned anyway. */
  readonly registration?: HostRegistration
}

/**
 * Host memory that a GPU copies from, registered once: with the whole ArrayBuffer that it is a part of, as two
 * registrations cannot share a page.
 */
export class RegisteredBuffers {
  readonly #session: CudaSession
  #entries: Entry[] = []

  constructor(session: CudaSession) {
    this.#session = session
  }

  /** An ArrayBuffer that needs no registration. */
  addPinned(buffer: ArrayBufferLike): void {
    this.#push(buffer, this.#session.addon.addressOf(new Uint8Array(buffer)), buffer.byteLength)
  }

  /** Registers the memory of a view where it is not. @throws CudaCallError where the driver refuses it. */
  add(view: DataView): void {
    const { addon } = this.#session
    const from = addon.addressOf(view)
    const to = from + BigInt(view.byteLength)
    const isHere = (each: Entry) => each.buffer.deref() === view.buffer && each.from <= from && each.to >= to
    if (this.#entries.some(isHere)) return
    // What is gone may have left its addresses to this one.
    this.#end((each) => each === undefined || each.byteLength === 0)
    const start = from - BigInt(view.byteOffset)
    if (this.#tryRegister(view.buffer, start, view.buffer.byteLength)) return
    // An engine has registered its queues there: then this part alone. A part of which another one is registered is
    // copied as it is, which is right in any case.
    if (!this.#tryRegister(view.buffer, from, view.byteLength)) this.#push(view.buffer, from, view.byteLength)
  }

  /** Ends the registrations of an ArrayBuffer. */
  delete(buffer: ArrayBufferLike): void {
    this.#end((each) => each === buffer)
  }

  /** False where a part of it is registered already. */
  #tryRegister(buffer: ArrayBufferLike, from: bigint, lengthBytes: number): boolean {
    try {
      this.#push(buffer, from, lengthBytes, new HostRegistration(this.#session, from, lengthBytes, false))
      return true
    } catch (error) {
      if (error instanceof CudaCallError && error.resultName === 'CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED')
        return false
      throw error
    }
  }

  #push(buffer: ArrayBufferLike, from: bigint, lengthBytes: number, registration?: HostRegistration): void {
    const to = from + BigInt(lengthBytes)
    this.#entries.push({ buffer: new WeakRef(buffer), from, to, ...(registration && { registration }) })
  }

  #end(isMeant: (buffer: ArrayBufferLike | undefined) => boolean): void {
    const ended = this.#entries.filter(({ buffer }) => isMeant(buffer.deref()))
    this.#entries = this.#entries.filter((each) => !ended.includes(each))
    for (const { registration } of ended) registration?.unregister()
  }
}
