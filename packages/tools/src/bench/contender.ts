import type { BenchCommand, BenchReason, BenchRepeat, BenchSource } from '../report/bench-results.js'
import type { Shape } from './shape.js'
import { ToolsError } from '../command-line/tools-error.js'

/** Who takes part: an engine of ours, or what it is compared with. */
export interface Contender {
  readonly source: BenchSource
  /**
   * Measures a setting once.
   * @param withTimeline whether some of its commands are to be written down one by one.
   * @throws RefusedError where it cannot run that setting; anything else ends the whole bench.
   */
  measure(shape: Shape, withTimeline: boolean): Promise<Measured>
}

/** A repeat, and what is to be said of it beside its numbers. */
export interface Measured {
  readonly repeat: BenchRepeat
  readonly timeline?: readonly BenchCommand[]
  /** How fast its second half was, in shares of its first, where that is known. */
  readonly pace?: number
  /** What a reader has to know; the same remark is made once. */
  readonly remarks: readonly string[]
}

/** A setting that somebody cannot run. The others can go on. */
export class RefusedError extends ToolsError {
  readonly code = 'ERR_GPUNVME_BENCH_REFUSED'
  readonly category = 'infeasible'
  readonly refusal: BenchReason
  constructor(refusal: BenchReason) {
    super(refusal.reason, refusal.next === undefined ? {} : { next: refusal.next })
    this.refusal = refusal
  }
}
