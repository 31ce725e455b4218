import type { GpuNvmeError } from '@gpunvme/nvme-spec/error'

/** Something about a set that its owner wants to know. */
export interface SetProblem {
  /**
   * When it was opened: `missing`, `stale`, `label` (it cannot be told which member it is), `label-copy` (one of the two
   * copies is damaged), `unmeasured` (it could not be read to measure it). Since then: `lost`, `repaired` (another member
   * had what this one could not read), `stalled` (another one read what this one was late with).
   */
  readonly kind: 'missing' | 'stale' | 'label' | 'label-copy' | 'unmeasured' | 'lost' | 'repaired' | 'stalled'
  /** Index of the member; absent where it is not known. */
  readonly member?: number
  /** One line for people. */
  readonly message: string
  readonly cause?: GpuNvmeError
}

/** More are counted, and reported, but not kept. */
const MOST_KEPT = 100

/** Keeps the first problems, and tells all of them to whoever listens. */
export class Problems {
  readonly kept: SetProblem[] = []
  private readonly onProblem: ((problem: SetProblem) => void) | undefined

  constructor(onProblem?: (problem: SetProblem) => void) {
    this.onProblem = onProblem
  }

  add(problem: SetProblem): void {
    if (this.kept.length < MOST_KEPT) this.kept.push(problem)
    this.onProblem?.(problem)
  }
}
