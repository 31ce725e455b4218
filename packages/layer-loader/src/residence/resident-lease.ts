import type { DeviceMemory } from '@gpunvme/nvme-spec/transport'
import type { ExtentPart } from '../load/extent.js'
import { useAfterRelease, type Lease } from '../load/lease.js'
import type { PlacedPiece } from '../load/load-plan.js'
import type { OnGpu } from './placement.js'
import type { PlacedLayer } from './predict.js'
import type { Residence } from './spread.js'

/**
 * A loaned layer in GPU memory, until `release`; then its slot is refilled, unless the layer stays there. `memory` then
 * throws LoaderError (USE_AFTER_RELEASE); the other properties stay available.
 */
export class ResidentLease {
  readonly name: string
  /** Position in its pass. */
  readonly index: number
  /** Position in the layer that it was split from (`fitLayers`); undefined for a complete layer. */
  readonly part: ExtentPart | undefined
  /** Place of the layer between passes. */
  readonly residence: Residence
  /** Length in its memory, from the start. */
  readonly lengthBytes: number
  /** Content with offsets in `memory`. It has no bytes. */
  readonly tensors: readonly PlacedPiece[]
  /** Whether every byte was checked when it was read from the drive. */
  readonly verified: boolean
  /** Whether every byte was checked in GPU memory. */
  readonly verifiedOnGpu: boolean
  private readonly lease: Lease
  private readonly device: DeviceMemory

  /** @internal */
  constructor(lease: Lease, index: number, layer: PlacedLayer, { memory, verified, verifiedOnGpu }: OnGpu) {
    this.name = lease.name
    this.index = index
    this.part = layer.part
    this.residence = layer.residence
    this.lengthBytes = lease.lengthBytes
    this.tensors = lease.tensors
    this.verified = verified
    this.verifiedOnGpu = verifiedOnGpu
    this.lease = lease
    this.device = memory
  }

  get released(): boolean {
    return this.lease.released
  }

  /**
   * GPU memory of the layer. Kernels take its `gpuPointer`. The lease's owner must not free it. @throws
   * LoaderError (USE_AFTER_RELEASE)
   */
  get memory(): DeviceMemory {
    if (this.released) throw useAfterRelease(this.name, 'memory')
    return this.device
  }

  /** Returns the slot. Idempotent. */
  release(): void {
    this.lease.release()
  }

  /** Releases the layer. */
  [Symbol.dispose](): void {
    this.release()
  }
}
