import type { DmaAllocator, DmaMemory } from '@gpunvme/nvme-spec/transport'
import { RunFailure } from './failure.js'

const CANARY = 0xc5
const GUARD_BYTES = 4096
const GUARD = new Uint8Array(GUARD_BYTES).fill(CANARY)

/** Memory of the host between canaries, with a copy of what it must be: the controller may change only what it was lent. */
export class Region {
  readonly name: string
  /** Its bytes as they are. */
  readonly bytes: Uint8Array
  /** Its bytes as they have to be. */
  readonly expected: Uint8Array
  /** Its owner cannot tell what the controller may have written to it. */
  isUnknown = false
  private readonly all: Uint8Array
  private readonly memory: DmaMemory

  constructor(dma: DmaAllocator, name: string, lengthBytes: number, contiguous: boolean) {
    this.name = name
    this.memory = dma.alloc(lengthBytes + 2 * GUARD_BYTES, { contiguous })
    this.all = new Uint8Array(this.memory.view!.buffer)
    this.all.fill(CANARY)
    this.bytes = this.all.subarray(GUARD_BYTES, GUARD_BYTES + lengthBytes)
    this.bytes.fill(0)
    this.expected = this.bytes.slice()
  }

  iova(offsetBytes = 0): number {
    return this.memory.iovaAt(GUARD_BYTES + offsetBytes)
  }

  /** The host has changed some of it, or has seen what the controller was to change. */
  accept(offsetBytes = 0, lengthBytes = this.bytes.length - offsetBytes): void {
    this.expected.set(this.bytes.subarray(offsetBytes, offsetBytes + lengthBytes), offsetBytes)
  }

  /** @throws RunFailure where a byte was changed that is none of the controller's business. */
  check(): void {
    for (const guard of [this.all.subarray(0, GUARD_BYTES), this.all.subarray(GUARD_BYTES + this.bytes.length)]) {
      const at = firstDifference(guard, GUARD)
      if (at >= 0) throw new RunFailure('memory', `a byte outside of ${this.name} was changed (${at} in its guard)`)
    }
    if (this.isUnknown) return
    const at = firstDifference(this.bytes, this.expected)
    if (at >= 0) throw new RunFailure('memory', `byte ${at} of ${this.name} was changed, and was lent to nobody`)
  }
}

/** Index of the first byte that differs, or -1. Both are as long. */
export function firstDifference(one: Uint8Array, other: Uint8Array): number {
  // Node's own comparison first: nearly always there is no difference, and every run compares megabytes.
  return Buffer.compare(one, other) === 0 ? -1 : one.findIndex((byte, at) => byte !== other[at])
}
