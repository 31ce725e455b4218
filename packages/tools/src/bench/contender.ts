import type { BenchCommand, BenchReason, BenchRepeat, BenchSource } from '../report/bench-results.js'
import type { Shape } from './shape.js'
import { ToolsError } from '../command-line/tools-error.js'

/** A measured source: an engine of this package, or a baseline. */
export interface Contender {
  readonly source: BenchSource
  /**
   * Measures a setting once.
   * @param withTimeline whether to record individual commands.
   * @throws RefusedError if it cannot run the setting; other errors end the benchmark.
   */
  measure(shape: Shape, withTimeline: boolean): Promise<Measured>
}

/** A repeat, with remarks. */
export interface Measured {
  readonly repeat: BenchRepeat
  readonly timeline?: readonly BenchCommand[]
  /** Rate of the second half relative to the first, if known. */
  readonly pace?: number
  /** Remarks for the reader; duplicates are printed once. */
  readonly remarks: readonly string[]
}

/** Error of a setting that a source cannot run. Others continue. */
export class RefusedError extends ToolsError {
  readonly refusal: BenchReason
  constructor(refusal: BenchReason) {
    super(
      'ERR_GPUNVME_BENCH_REFUSED',
      'infeasible',
      refusal.reason,
      refusal.next === undefined ? {} : { next: refusal.next },
    )
    this.refusal = refusal
  }
}
