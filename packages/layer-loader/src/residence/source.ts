import type { AbortSignalLike, ChecksummedMemory, Checksummer, Clock, DmaMemory } from '@gpunvme/nvme-spec/transport'
import type { PlacedPiece } from '../load/load-plan.js'

/** A layer in a slot, until it is released. */
export interface LoadedLayer {
  readonly memory: DmaMemory
  /** Of the slot, from its start: all that the layer takes there. */
  readonly lengthBytes: number
  readonly tensors: readonly PlacedPiece[]
  /** Whether every byte was checked. */
  readonly verified: boolean
  /** What came from the drive, and when it was busy with that: not with what was read before it. */
  readonly read: { readonly bytes: number; readonly startNs: number; readonly endNs: number }
  /**
   * Compares a copy of this memory with the checksums stored with the model; if the model has none, with checksums of
   * this memory, which proves the copy but not the read.
   * @throws CopyMismatchError for the first chunk that differs; what the checksummer throws; the signal's reason.
   */
  checkCopy(copy: ChecksummedMemory, checksummer: Checksummer, signal?: AbortSignalLike): Promise<void>
  /** Gives the slot back. Releasing twice is harmless. */
  release(): void
}

/** The memory of a reader. */
export interface SlotRoom {
  readonly slots: number
  readonly slotBytes: number
  /** 'gpu' where the controller writes into GPU memory. */
  readonly where: 'host' | 'gpu'
}

/** Reads layers into slots of its own. */
export interface SlotReader {
  /**
   * Reads a layer as soon as a slot is free, in the order of the calls; resolves when all of it is there, checked where
   * that is wanted. Aborting takes back what has not begun; what has is waited for, and throws the signal's reason.
   */
  load(layer: string, signal: AbortSignal): Promise<LoadedLayer>
  /** Waits for what is under way, and frees the slots. */
  close(): Promise<void>
}

/** Where layers come from: the narrow part of a loader that residence needs. */
export interface LayerSource {
  readonly clock: Clock
  /** Allocates slots. @throws RangeError, TypeError where there is no such memory. */
  open(room: SlotRoom): SlotReader
}
