import type { VfioUserStatistics } from './statistics.js'

/** What can be asked of the server's thread, and what it answers. */
export interface Answers {
  readonly statistics: VfioUserStatistics
  readonly diagnostics: readonly string[]
}

/** A question to the server's thread. */
export interface Question {
  readonly id: number
  readonly ask: keyof Answers
}

/** What the server's thread says. */
export type Answer = 'ready' | { readonly id: number; readonly value: Answers[keyof Answers] }
