import type { Span } from './addresses.js'
import type { DataPattern } from './content.js'

/** Setting common to all repeats of a benchmark. Seconds are those of the transport's clock. */
export interface Setting {
  readonly seconds: number
  readonly warmUpSeconds: number
  /** Pause between repeats. */
  readonly coolDownSeconds: number
  readonly repeats: number
  readonly span: Span
  readonly seed: number
  readonly dataPattern: DataPattern
  readonly signal: AbortSignal
}
