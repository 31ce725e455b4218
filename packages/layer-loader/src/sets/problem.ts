import type { GpuNvmeError } from '@gpunvme/nvme-spec/error'
import type { BlockStore } from '../store/store.js'

/** A problem of a set, for its owner. */
export interface SetProblem {
  /**
   * At opening: `missing`, `stale`, `label` (unusable label of an unknown member), `label-copy` (one of two copies is
   * damaged), `unmeasured` (the measurement failed). Later: `lost`, `repaired` (another member had the data: this one
   * could not read them, or returned bytes with a wrong checksum), `stalled` (another member repeated a late read).
   */
  readonly kind: 'missing' | 'stale' | 'label' | 'label-copy' | 'unmeasured' | 'lost' | 'repaired' | 'stalled'
  /** Index of the member; absent if unknown. */
  readonly member?: number
  /** Description in one line. */
  readonly message: string
  readonly cause?: GpuNvmeError
}

/** Further problems are counted and reported, but not kept. */
const MAX_KEPT = 100

/** Keeps the first problems, and reports all of them. */
export class Problems {
  readonly kept: SetProblem[] = []
  private readonly onProblem: ((problem: SetProblem) => void) | undefined

  constructor(onProblem?: (problem: SetProblem) => void) {
    this.onProblem = onProblem
  }

  add(problem: SetProblem): void {
    if (this.kept.length < MAX_KEPT) this.kept.push(problem)
    this.onProblem?.(problem)
  }

  /**
   * Reports that a read returned bytes with a wrong checksum, which were read from another copy.
   * @param wrong copies whose bytes were wrong again, with the index of their member if each is of one member
   */
  addWrongBytes(
    set: BlockStore,
    wrong: readonly { readonly index?: number; readonly copy: BlockStore }[],
    offsetBytes: number,
    lengthBytes: number,
  ): void {
    const what = 'bytes with a wrong checksum'
    for (const { index, copy } of wrong) {
      const message = `${copy.name} returns ${what}: ${copy.locate(offsetBytes, lengthBytes)}`
      this.add({ kind: 'repaired', ...(index !== undefined && { member: index }), message })
    }
    if (wrong.length > 0) return
    const message = `a read returned ${what}; no member did when they were read again: ${set.locate(offsetBytes, lengthBytes)}`
    this.add({ kind: 'repaired', message })
  }
}
