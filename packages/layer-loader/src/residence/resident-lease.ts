import type { DeviceMemory } from '@gpunvme/nvme-spec/transport'
import { UseAfterReleaseError } from '../load/lease.js'
import type { PlacedPiece } from '../load/load-plan.js'
import type { Residence } from './spread.js'

/** A layer on the GPU, wherever it has come from. */
export interface OnGpu {
  readonly memory: DeviceMemory
  readonly lengthBytes: number
  readonly tensors: readonly PlacedPiece[]
  readonly verified: boolean
  readonly verifiedOnGpu: boolean
  /** When the last of it had been read in this pass; absent for what was not read. */
  readonly readEndNs?: number
  release(): void
}

/**
 * A layer in GPU memory, on loan until `release`: afterwards its slot is filled with another, unless it lives there.
 * `memory` throws UseAfterReleaseError then; what is known of the layer stays.
 */
export class ResidentLease {
  readonly name: string
  /** Position in its pass. */
  readonly index: number
  /** Where the layer is between passes. */
  readonly residence: Residence
  /** Of its memory, from the start. */
  readonly lengthBytes: number
  /** What is in it, each with where it starts. No bytes. */
  readonly tensors: readonly PlacedPiece[]
  /** Whether every byte was checked when it came from the drive. */
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

  /** Where it is on the GPU: `gpuPointer` is what kernels take. It is not the lease's to free. @throws UseAfterReleaseError */
  get memory(): DeviceMemory {
    if (!this.live) throw new UseAfterReleaseError(this.name, 'memory')
    return this.layer.memory
  }

  /** Gives the slot back. Releasing twice is harmless. */
  release(): void {
    if (!this.live) return
    this.live = false
    this.layer.release()
  }

  [Symbol.dispose](): void {
    this.release()
  }
}
