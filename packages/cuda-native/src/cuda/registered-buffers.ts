import { CudaCallError } from './errors.js'
import { HostRegistration } from './memory.js'
import type { CudaSession } from './session.js'

interface Entry {
  readonly buffer: WeakRef<ArrayBufferLike>
  readonly from: bigint
  readonly to: bigint
  /** Absent for pinned memory, and for memory that other code registered in part. */
  readonly registration?: HostRegistration
  readonly isOthers?: boolean
}

/** Registration allocates and pins every page, also of sparse memory that is mostly unused. */
const MAX_WHOLE_BYTES = 2 ** 30

/** A part of a copy from host memory, as an address range. */
export interface CopyPiece {
  readonly from: bigint
  readonly to: bigint
  /** Whether other code registered an unknown part of it. The driver refuses copies from such a range. */
  readonly isMixed: boolean
}

/**
 * Host memory that a GPU copies from. Each ArrayBuffer is registered once and as a whole, since two registrations cannot
 * share a page; of one above 1 GiB, only the parts in use.
 */
export class RegisteredBuffers {
  readonly #session: CudaSession
  #entries: Entry[] = []

  constructor(session: CudaSession) {
    this.#session = session
  }

  /** Adds an ArrayBuffer over pinned memory, which needs no registration. */
  addPinned(buffer: ArrayBufferLike): void {
    const from = this.#session.addon.addressOf(new DataView(buffer))
    this.#entries.push({ buffer: new WeakRef(buffer), from, to: from + BigInt(buffer.byteLength) })
  }

  /**
   * Registers the memory of a view if necessary. Returns the pieces in which to copy a range of it: the driver refuses copies
   * across the end of a registration. @throws CudaCallError if the driver refuses to register.
   */
  piecesOf(view: DataView, offsetBytes: number, lengthBytes: number): CopyPiece[] {
    const start = this.#session.addon.addressOf(view)
    this.#add(view, start, start + BigInt(view.byteLength))
    const [first, end] = [start + BigInt(offsetBytes), start + BigInt(offsetBytes + lengthBytes)]
    return this.#within(view.buffer, first, end).map(({ from, to, isOthers = false }) => ({
      from: from > first ? from : first,
      to: to < end ? to : end,
      isMixed: isOthers,
    }))
  }

  /** Ends the registrations of an ArrayBuffer. */
  delete(buffer: ArrayBufferLike): void {
    this.#end((each) => each === buffer)
  }

  #add({ buffer, byteOffset }: DataView, from: bigint, to: bigint): void {
    const known = this.#within(buffer, from, to)
    const gaps: { from: bigint; to: bigint }[] = []
    let at = from
    for (const each of known) {
      if (each.from > at) gaps.push({ from: at, to: each.from })
      at = each.to
    }
    if (at < to) gaps.push({ from: at, to })
    if (gaps.length === 0) return
    // A collected ArrayBuffer may have had the same addresses.
    this.#end((each) => each === undefined || each.byteLength === 0)
    const start = from - BigInt(byteOffset)
    const isFirst = !this.#entries.some((each) => each.buffer.deref() === buffer)
    const isShort = buffer.byteLength <= MAX_WHOLE_BYTES
    if (isFirst && isShort && this.#tryRegister(buffer, start, start + BigInt(buffer.byteLength))) return
    // It is long, an engine has registered its queues there, or parts were registered before: register only the gaps.
    for (const gap of gaps) {
      if (!this.#tryRegister(buffer, gap.from, gap.to))
        this.#entries.push({ ...gap, buffer: new WeakRef(buffer), isOthers: true })
    }
  }

  /** Returns the entries of this range of an ArrayBuffer, by address. Entries do not overlap. */
  #within(buffer: ArrayBufferLike, from: bigint, to: bigint): Entry[] {
    const isHere = (each: Entry) => each.buffer.deref() === buffer && each.from < to && each.to > from
    return this.#entries.filter(isHere).sort((a, b) => (a.from < b.from ? -1 : 1))
  }

  /** Registers a range. Returns false if a part of it is already registered. */
  #tryRegister(buffer: ArrayBufferLike, from: bigint, to: bigint): boolean {
    try {
      const registration = new HostRegistration(this.#session, from, Number(to - from), false)
      this.#entries.push({ buffer: new WeakRef(buffer), from, to, registration })
      return true
    } catch (error) {
      if (error instanceof CudaCallError && error.resultName === 'CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED')
        return false
      throw error
    }
  }

  #end(isMeant: (buffer: ArrayBufferLike | undefined) => boolean): void {
    const ended = this.#entries.filter(({ buffer }) => isMeant(buffer.deref()))
    this.#entries = this.#entries.filter((each) => !ended.includes(each))
    for (const { registration } of ended) registration?.unregister()
  }
}
