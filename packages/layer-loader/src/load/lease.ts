import { GpuNvmeError } from '@gpunvme/nvme-spec/error'
import type { DmaMemory } from '@gpunvme/nvme-spec/transport'
import { quote } from '../formats/quote.js'
import type { PlacedPiece } from './load-plan.js'
import type { Slot } from './slots.js'

/** What it took to load one extent. */
export interface LoadStatistics {
  /** That came from the store; more than was wanted where blocks and checks reach further. */
  readonly bytes: number
  /** Commands to controllers; system calls to a file. */
  readonly commands: number
  /** By the store's clock, of each of its reads the time after the read before it in the store had ended. */
  readonly readNs: number
  /** The first submission, and the last end; Infinity and -Infinity where nothing was read. */
  readonly startNs: number
  readonly endNs: number
  /** Time for checksums, by this machine's clock and apart from any simulation. 0 when nothing was checked. */
  readonly verifyNs: number
}

/** What was loaded; no bytes. */
export interface LoadReport {
  readonly name: string
  /** Position in the sequence of what was asked for. */
  readonly index: number
  /** Whether every byte was checked. */
  readonly verified: boolean
  readonly statistics: LoadStatistics
  /** What is in it, in the order of memory: each one's `offsetBytes` is where it starts in `memory`. */
  readonly tensors: readonly PlacedPiece[]
}

/** What a lease is made of. */
export interface Loaded extends LoadReport {
  readonly slot: Slot
  /** Bytes of the slot that the extent takes. */
  readonly lengthBytes: number
}

/**
 * A layer, an expert or a tensor in memory, on loan: until `release`, its bytes stay as they are; afterwards the slot is
 * filled with something else.
 *
 * Every member that leads to bytes - `memory`, `bytes`, `tensor()` - throws UseAfterReleaseError once the lease is
 * released, or its loader closed. What is known of the extent stays: `name`, `index`, `tensors`, `statistics`,
 * `verified`, `generation`. A `Uint8Array` that was taken before is plain memory, and its use cannot be noticed: keep the
 * lease, not the array. With `poison: true` such an array shows 0xa5 until the slot is filled again, which is a help in
 * tests.
 */
export class Lease implements LoadReport {
  readonly name: string
  /** Position in the sequence of what was asked for. */
  readonly index: number
  /** Whether every byte was checked before it was handed out. */
  readonly verified: boolean
  readonly statistics: LoadStatistics
  /** Of the slot: whoever keeps a pointer into it compares this before use. */
  readonly generation: number
  /** Which slot of its loader it has. */
  readonly slot: number
  /** What is in it, in the order of memory: each one's `offsetBytes` is where it starts in `memory`. No bytes. */
  readonly tensors: readonly PlacedPiece[]
  private readonly loaded: Loaded
  private readonly onRelease: () => void
  private live = true

  /** @internal */
  constructor(loaded: Loaded, onRelease: () => void) {
    this.name = loaded.name
    this.index = loaded.index
    this.verified = loaded.verified
    this.statistics = loaded.statistics
    this.generation = loaded.slot.generation
    this.slot = loaded.slot.index
    this.tensors = loaded.tensors
    this.loaded = loaded
    this.onRelease = onRelease
  }

  get released(): boolean {
    return !this.live
  }

  /** The slot, for a GPU or another device to read from. It may be longer than the extent. @throws UseAfterReleaseError */
  get memory(): DmaMemory {
    this.requireLive('memory')
    return this.loaded.slot.memory
  }

  /**
   * All that was loaded, padding included: a view, not a copy.
   * @throws UseAfterReleaseError; TypeError for memory that the CPU cannot reach.
   */
  get bytes(): Uint8Array {
    this.requireLive('bytes')
    return this.view().subarray(0, this.loaded.lengthBytes)
  }

  /**
   * One tensor's bytes: a view, not a copy.
   * @throws UseAfterReleaseError; RangeError for a name that is not in it; TypeError for memory that the CPU cannot reach.
   */
  tensor(name: string): Uint8Array {
    this.requireLive(`tensor ${quote(name)}`)
    const found = this.tensors.find((tensor) => tensor.name === name)
    if (found === undefined) {
      throw new RangeError(`name: expected a tensor of ${quote(this.name)}, got ${quote(name)}`)
    }
    return this.view().subarray(found.offsetBytes, found.offsetBytes + found.lengthBytes)
  }

  /** Gives the slot back. Releasing twice is harmless. */
  release(): void {
    if (!this.live) return
    this.live = false
    this.onRelease()
  }

  [Symbol.dispose](): void {
    this.release()
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.release()
    return Promise.resolve()
  }

  private view(): Uint8Array {
    const { bytes } = this.loaded.slot
    if (bytes !== undefined) return bytes
    throw new TypeError(`${this.name}: expected memory with a view, got a GPU's; use lease.memory`)
  }

  private requireLive(what: string): void {
    if (!this.live) throw new UseAfterReleaseError(this.name, what)
  }
}

/** Bytes were asked for after their lease had ended. The slot may hold something else by now. */
export class UseAfterReleaseError extends GpuNvmeError {
  readonly code = 'ERR_GPUNVME_USE_AFTER_RELEASE'
  readonly category = 'usage'

  constructor(name: string, what: string) {
    super(`The lease of ${quote(name)} has ended; its ${what} is gone`, {
      facts: [
        'a lease ends when it is released, and when its stream or loader is closed or a loop over it is left early',
      ],
      next: 'release it later, or copy what has to outlive it',
    })
  }
}
