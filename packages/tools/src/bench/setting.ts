import type { Span } from './addresses.js'
import type { DataPattern } from './content.js'

/** What all repeats of a bench have in common. Seconds are of the transport's clock. */
export interface Setting {
  readonly seconds: number
  readonly warmUpSeconds: number
  /** Between two repeats. */
  readonly coolDownSeconds: number
  readonly repeats: number
  readonly span: Span
  readonly seed: number
  readonly dataPattern: DataPattern
  readonly signal: AbortSignal
}
