import type { DeviceMemory } from '@gpunvme/nvme-spec/transport'
import { useAfterRelease } from '../load/lease.js'
import type { PlacedPiece } from '../load/load-plan.js'
import type { Residence } from './spread.js'

/** A layer on the GPU, from any place. */
export interface OnGpu {
  readonly memory: DeviceMemory
  readonly lengthBytes: number
  readonly tensors: readonly PlacedPiece[]
  readonly verified: boolean
  readonly verifiedOnGpu: boolean
  /** End of its last read in this pass; absent if it was not read. */
  readonly readEndNs?: number
  release(): void
}

/**
 * A loaned layer in GPU memory, until `release`; then its slot is refilled, unless the layer stays there. `memory` then
 * throws LoaderError (USE_AFTER_RELEASE); the other properties stay available.
 */
export class ResidentLease {
  readonly name: string
  /** Position in its pass. */
  readonly index: number
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
  private readonly layer: OnGpu
  private live = true

  /** @internal */
  constructor(name: string, index: number, residence: Residence, layer: OnGpu) {
    this.name = name
    this.index = index
    this.residence = residence
    this.lengthBytes = layer.lengthBytes
    this.tensors = layer.tensors
    this.verified = layer.verified
    this.verifiedOnGpu = layer.verifiedOnGpu
    this.layer = layer
  }

  get released(): boolean {
    return !this.live
  }

  /**
   * GPU memory of the layer. Kernels take its `gpuPointer`. The lease's owner must not free it. @throws
   * LoaderError (USE_AFTER_RELEASE)
   */
  get memory(): DeviceMemory {
    if (!this.live) throw useAfterRelease(this.name, 'memory')
    return this.layer.memory
  }

  /** Returns the slot. Idempotent. */
  release(): void {
    if (!this.live) return
    this.live = false
    this.layer.release()
  }

  /** Releases the layer. */
  [Symbol.dispose](): void {
    this.release()
  }
}
