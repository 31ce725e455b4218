import type { GpuNvmeError } from '@gpunvme/nvme-spec/error'

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
}
