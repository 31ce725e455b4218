import type { AbortSignalLike, ChecksummedMemory, Checksummer, Clock, DmaMemory } from '@gpunvme/nvme-spec/transport'
import type { PlacedPiece } from '../load/load-plan.js'

/** A layer in a slot, until it is released. */
export interface LoadedLayer {
  readonly memory: DmaMemory
  /** Length in the slot, from its start. */
  readonly lengthBytes: number
  readonly tensors: readonly PlacedPiece[]
  /** Whether every byte was checked. */
  readonly verified: boolean
  /** Bytes read from the drive, and the interval in which the drive was busy with them, not with earlier reads. */
  readonly read: { readonly bytes: number; readonly startNs: number; readonly endNs: number }
  /**
   * Compares a copy of this memory with the checksums stored with the model; if the model has none, with checksums of
   * this memory, which proves the copy but not the read.
   * @throws CopyMismatchError for the first chunk that differs; errors of the checksummer; the signal's reason.
   */
  checkCopy(copy: ChecksummedMemory, checksummer: Checksummer, signal?: AbortSignalLike): Promise<void>
  /** Returns the slot. Idempotent. */
  release(): void
}

/** The memory of a reader. */
export interface SlotRoom {
  readonly slots: number
  readonly slotBytes: number
  /** 'gpu' if the controller writes to GPU memory. */
  readonly where: 'host' | 'gpu'
}

/** Reads layers into its own slots. */
export interface SlotReader {
  /**
   * Reads a layer as soon as a slot is free, in the order of calls; resolves when it is complete and, if requested,
   * checked. Aborting cancels reads that have not begun; otherwise it waits for them, and throws the signal's reason.
   */
  load(layer: string, signal: AbortSignal): Promise<LoadedLayer>
  /** Waits for reads in flight, and frees the slots. */
  close(): Promise<void>
}

/** A source of layers: the part of a loader that `openResidence` needs. */
export interface LayerSource {
  readonly clock: Clock
  /** Allocates slots. @throws RangeError, TypeError if such memory is not available. */
  open(room: SlotRoom): SlotReader
}
