import { LoaderError } from '../error.js'
import type { DmaMemory } from '@gpunvme/nvme-spec/transport'
import { checkRange } from '../formats/byte-source.js'
import { quote } from '../formats/quote.js'
import { bytesIn, MAX_ARRAY_BYTES } from '../store/memory-bytes.js'
import type { ExtentPart } from './extent.js'
import type { PlacedPiece } from './load-plan.js'
import type { Slot } from './slots.js'

/** Cost of loading one extent. */
export interface LoadStatistics {
  /** Bytes read from the store; more than requested if blocks and check units extend further. */
  readonly bytes: number
  /** Commands to controllers; system calls for a file. */
  readonly commands: number
  /** Time by the store's clock: for each read, the time since the previous read of the store ended. */
  readonly readNs: number
  /** Start of the first read and end of the last one; Infinity and -Infinity without reads. */
  readonly startNs: number
  readonly endNs: number
  /**
   * Time for checksums, by this machine's clock even in a simulation. 0 without checks, and if the store computes them
   * during reads.
   */
  readonly verifyNs: number
}

/** Description of a loaded extent, without its bytes. */
export interface LoadReport {
  readonly name: string
  /** Position in the layer that it is a part of; undefined for a complete extent. */
  readonly part: ExtentPart | undefined
  /** Position in the sequence of requests. */
  readonly index: number
  /** Whether every byte was checked. */
  readonly verified: boolean
  readonly statistics: LoadStatistics
  /** Content in the order of memory. `offsetBytes` is the offset in `memory`. */
  readonly tensors: readonly PlacedPiece[]
}

/** Properties of a new lease. */
export interface Loaded extends LoadReport {
  readonly slot: Slot
  /** Other name of its tensor. */
  readonly alias: string | undefined
  /** Bytes of the slot that the extent occupies. */
  readonly lengthBytes: number
}

/**
 * A loaned layer, expert or tensor in memory. Its bytes stay unchanged until `release`; then the slot is refilled.
 *
 * `memory`, `bytes`, `range()` and `tensor()` throw LoaderError (USE_AFTER_RELEASE) once the lease is released or its
 * loader closed. `name`, `part`, `index`, `tensors`, `lengthBytes`, `statistics`, `verified` and `generation` remain
 * available. A `Uint8Array` obtained before is plain memory, whose late use cannot be detected: keep the lease, not the
 * array. With `poison: true`, such an array reads 0xa5 until the slot is refilled, which helps in tests.
 */
export class Lease implements LoadReport {
  readonly name: string
  /** Position in the layer that it is a part of; undefined for a complete extent. */
  readonly part: ExtentPart | undefined
  /** Position in the sequence of requests. */
  readonly index: number
  /** Whether every byte was checked before it was handed out. */
  readonly verified: boolean
  readonly statistics: LoadStatistics
  /** Generation of the slot: compare it before using a pointer into the slot that was obtained earlier. */
  readonly generation: number
  /** Index of the slot in its loader. */
  readonly slot: number
  /** Content in the order of memory. `offsetBytes` is the offset in `memory`. It has no bytes. */
  readonly tensors: readonly PlacedPiece[]
  /** Number of loaded bytes including padding, from the start of `memory`. */
  readonly lengthBytes: number
  private readonly loaded: Loaded
  private readonly onRelease: () => void
  /** Holds the slot for this lease. */
  private readonly parent: Lease | undefined
  private live = true

  /** @internal */
  constructor(loaded: Loaded, onRelease: () => void, parent?: Lease) {
    this.name = loaded.name
    this.part = loaded.part
    this.index = loaded.index
    this.verified = loaded.verified
    this.statistics = loaded.statistics
    this.generation = loaded.slot.generation
    this.slot = loaded.slot.index
    this.tensors = loaded.tensors
    this.lengthBytes = loaded.lengthBytes
    this.loaded = loaded
    this.parent = parent
    this.onRelease = onRelease
  }

  get released(): boolean {
    return !this.live || this.parent?.released === true
  }

  /**
   * The slot, for a GPU or another device. It may be longer than the extent.
   * @throws LoaderError (USE_AFTER_RELEASE)
   */
  get memory(): DmaMemory {
    this.requireLive('memory')
    return this.loaded.slot.memory
  }

  /**
   * All loaded bytes including padding: a view, not a copy. A Uint8Array has at most 4 GiB on Node 20; `tensor` and
   * `range` work in longer extents, too.
   * @throws LoaderError (USE_AFTER_RELEASE, ARRAY_TOO_LONG), TypeError for memory that the CPU cannot reach.
   */
  get bytes(): Uint8Array {
    this.requireLive('bytes')
    return this.view(0, this.lengthBytes, 'the bytes')
  }

  /**
   * Returns loaded bytes by their offset in `memory`: a view, not a copy. For parts of an extent or of a tensor that is
   * longer than a Uint8Array can be.
   * @throws LoaderError (USE_AFTER_RELEASE, ARRAY_TOO_LONG), RangeError for a range outside the extent, TypeError for
   * memory that the CPU cannot reach.
   */
  range(offsetBytes: number, lengthBytes: number): Uint8Array {
    this.requireLive('range')
    checkRange({ name: this.name, sizeBytes: this.lengthBytes }, offsetBytes, lengthBytes)
    return this.view(offsetBytes, lengthBytes, 'a range')
  }

  /**
   * Returns the bytes of one tensor, by its name or by the alias that was requested: a view, not a copy.
   * @throws LoaderError (USE_AFTER_RELEASE, ARRAY_TOO_LONG), RangeError for a name that is not in the extent, TypeError
   * for memory that the CPU cannot reach.
   */
  tensor(name: string): Uint8Array {
    this.requireLive(`tensor ${quote(name)}`)
    const { alias } = this.loaded
    const wanted = alias !== undefined && name === alias ? this.name : name
    const found = this.tensors.find((tensor) => tensor.name === wanted)
    if (found === undefined) {
      throw new RangeError(`name: expected a tensor of ${quote(this.name)}, got ${quote(name)}`)
    }
    return this.view(found.offsetBytes, found.lengthBytes, `tensor ${quote(name)}`)
  }

  /** Returns the slot. Idempotent. */
  release(): void {
    if (!this.live) return
    this.live = false
    this.onRelease()
  }

  /** Releases the slot. */
  [Symbol.dispose](): void {
    this.release()
  }

  /** Releases the slot. */
  [Symbol.asyncDispose](): Promise<void> {
    this.release()
    return Promise.resolve()
  }

  /** Returns another lease of the same bytes, which ends with this one at the latest. @internal */
  share(onRelease: () => void): Lease {
    return new Lease(this.loaded, onRelease, this)
  }

  private view(offsetBytes: number, lengthBytes: number, what: string): Uint8Array {
    const { memory } = this.loaded.slot
    if (memory.view === undefined) {
      throw new TypeError(`${this.name}: expected memory with a view, got GPU memory; use lease.memory`)
    }
    if (lengthBytes > MAX_ARRAY_BYTES) throw arrayTooLong(this.name, what, lengthBytes)
    return bytesIn(memory, offsetBytes, lengthBytes)
  }

  private requireLive(what: string): void {
    if (this.released) throw useAfterRelease(this.name, what)
  }
}

/** Error of reading bytes after the end of their lease, when the slot may have other content. */
export function useAfterRelease(name: string, what: string): LoaderError {
  const headline = `Cannot access the ${what} of ${quote(name)}: its lease has ended`
  return new LoaderError('ERR_GPUNVME_USE_AFTER_RELEASE', 'usage', headline, {
    facts: ['a lease ends when it is released, its stream or loader is closed, or its loop is left early'],
    next: 'release it later, or copy what is needed longer',
  })
}

/** Error of bytes that are loaded, but too many for one Uint8Array. Parts of them are accessible. */
export function arrayTooLong(name: string, what: string, lengthBytes: number): LoaderError {
  const headline = `${quote(name)}: ${what} cannot be one Uint8Array: ${lengthBytes} bytes`
  return new LoaderError('ERR_GPUNVME_ARRAY_TOO_LONG', 'usage', headline, {
    facts: [`a Uint8Array of this runtime has at most ${MAX_ARRAY_BYTES} bytes`],
    next: 'take parts from a lease of openLoader: lease.tensor(name), or lease.range(offsetBytes, lengthBytes)',
  })
}
