import type { DmaAllocator } from '@gpunvme/nvme-spec/transport'
import { firstDifference, GuardedMemory } from '../conformance/raw-host/guarded-memory.js'
import { RunFailure } from './failure.js'

/** Host memory between canaries, with a copy of its expected content, to find unexpected writes of the controller. */
export class Region extends GuardedMemory {
  readonly name: string
  /** The expected bytes. */
  readonly expected: Uint8Array
  /** Whether the expected content is unknown, because the controller may write to the memory at any time. */
  isUnknown = false

  constructor(dma: DmaAllocator, name: string, lengthBytes: number, contiguous: boolean) {
    super(dma, lengthBytes, { fill: 0, contiguous })
    this.name = name
    this.expected = this.bytes.slice()
  }

  /** Updates the expected bytes after a change by the host, or an intended change by the controller. */
  accept(offsetBytes = 0, lengthBytes = this.bytes.length - offsetBytes): void {
    this.expected.set(this.bytes.subarray(offsetBytes, offsetBytes + lengthBytes), offsetBytes)
  }

  /** @throws RunFailure if an unexpected byte has changed. */
  check(): void {
    const stray = this.findStrayWrite()
    if (stray !== undefined)
      throw new RunFailure('memory', `the controller changed a byte outside of ${this.name}, at offset ${stray}`)
    if (this.isUnknown) return
    const at = firstDifference(this.bytes, this.expected)
    if (at >= 0) throw new RunFailure('memory', `the controller changed byte ${at} of ${this.name}`)
  }
}
