import type { Diagnostic } from '../controller/diagnostics.js'
import type { VfioUserStatistics } from './statistics.js'

/** Requests to the server's thread, and their replies. */
export interface Answers {
  readonly statistics: VfioUserStatistics
  readonly diagnostics: readonly Diagnostic[]
}

/** A request to the server's thread. */
export interface Question {
  readonly id: number
  readonly ask: keyof Answers
}

/** A message from the server's thread. */
export type Answer = 'ready' | { readonly id: number; readonly value: Answers[keyof Answers] }
