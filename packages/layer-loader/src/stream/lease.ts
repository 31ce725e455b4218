import { GpuNvmeError } from '@gpunvme/nvme-spec'
import type { DmaMemory } from '@gpunvme/nvme-spec/transport'
import type { HostBuffer } from '../buffer-pool.js'
import { quote } from '../formats/quote.js'
import type { PackedLayer, PackedTensor } from '../image/manifest.js'
import type { LayerStatistics } from './statistics.js'

/**
 * A layer in memory, on loan: until `release`, its bytes stay as they are; afterwards the slot is filled with another
 * layer.
 *
 * Every member that leads to bytes - `memory`, `bytes`, `tensor()` - throws UseAfterReleaseError once the lease is
 * released, or its stream closed. What is known of the layer stays: `name`, `index`, `tensors`, `statistics`,
 * `verified`. A `Uint8Array` that was taken before is plain memory, and its use cannot be noticed: keep the lease, not
 * the array. With `poison: true` such an array shows 0xa5 until the slot is filled again, which is a help in tests.
 */
export class LayerLease {
  readonly name: string
  /** Position in the sequence of layers that was asked for. */
  readonly index: number
  /** Whether every byte was checked against the image's checksums before the layer was handed out. */
  readonly verified: boolean
  readonly statistics: LayerStatistics
  private readonly layer: PackedLayer
  private readonly buffer: HostBuffer
  private readonly onRelease: () => void
  private live = true

  constructor(
    layer: PackedLayer,
    index: number,
    verified: boolean,
    statistics: LayerStatistics,
    buffer: HostBuffer,
    onRelease: () => void,
  ) {
    this.name = layer.name
    this.index = index
    this.verified = verified
    this.statistics = statistics
    this.layer = layer
    this.buffer = buffer
    this.onRelease = onRelease
  }

  get released(): boolean {
    return !this.live
  }

  /** Descriptions of the layer's tensors, no bytes; each one's `offsetBytes` is where it starts in `memory`. */
  get tensors(): readonly PackedTensor[] {
    return this.layer.tensors
  }

  /** The slot, for a GPU or another device to read from. It may be longer than the layer. @throws UseAfterReleaseError */
  get memory(): DmaMemory {
    this.requireLive('memory')
    return this.buffer.memory
  }

  /** The layer as it lies in the image, padding included: a view, not a copy. @throws UseAfterReleaseError */
  get bytes(): Uint8Array {
    this.requireLive('bytes')
    return this.buffer.bytes.subarray(0, this.layer.lengthBytes)
  }

  /**
   * One tensor's bytes: a view, not a copy.
   * @throws UseAfterReleaseError; RangeError for a name that the layer does not have.
   */
  tensor(name: string): Uint8Array {
    this.requireLive(`tensor ${quote(name)}`)
    const found = this.layer.tensors.find((tensor) => tensor.name === name)
    if (found === undefined) {
      throw new RangeError(`name: expected a tensor of ${quote(this.name)}, got ${quote(name)}`)
    }
    return this.buffer.bytes.subarray(found.offsetBytes, found.offsetBytes + found.lengthBytes)
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

  private requireLive(what: string): void {
    if (!this.live) throw new UseAfterReleaseError(this.name, what)
  }
}

/** A layer's bytes were asked for after its lease had ended. The slot may hold another layer by now. */
export class UseAfterReleaseError extends GpuNvmeError {
  readonly code = 'ERR_GPUNVME_USE_AFTER_RELEASE'
  readonly category = 'usage'

  constructor(layer: string, what: string) {
    super(`The lease of ${quote(layer)} has ended; its ${what} is gone`, {
      facts: ['a lease ends when it is released, and when its stream is closed or a loop over it is left early'],
      next: 'release it later, or copy what has to outlive it',
    })
  }
}
