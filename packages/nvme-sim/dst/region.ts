import type { DmaAllocator } from '@gpunvme/nvme-spec/transport'
import { firstDifference, GuardedMemory } from '../conformance/raw-host/guarded-memory.js'
import { RunFailure } from './failure.js'

/** Memory of the host between canaries, with a copy of its expected content: the controller may change only bytes lent to it. */
export class Region extends GuardedMemory {
  readonly name: string
  /** The expected bytes. */
  readonly expected: Uint8Array
  /** Its owner cannot tell what the controller may have written to it. */
  isUnknown = false

  constructor(dma: DmaAllocator, name: string, lengthBytes: number, contiguous: boolean) {
    super(dma, lengthBytes, { fill: 0, contiguous })
    this.name = name
    this.expected = this.bytes.slice()
  }

  /** Updates the expected bytes after the host has changed them, or the controller as intended. */
  accept(offsetBytes = 0, lengthBytes = this.bytes.length - offsetBytes): void {
    this.expected.set(this.bytes.subarray(offsetBytes, offsetBytes + lengthBytes), offsetBytes)
  }

  /** @throws RunFailure if a byte changed that was not lent to the controller. */
  check(): void {
    const stray = this.findStrayWrite()
    if (stray !== undefined) throw new RunFailure('memory', `a byte outside of ${this.name} was changed, at ${stray}`)
    if (this.isUnknown) return
    const at = firstDifference(this.bytes, this.expected)
    if (at >= 0)
      throw new RunFailure('memory', `byte ${at} of ${this.name} was changed, and was not lent to the controller`)
  }
}
