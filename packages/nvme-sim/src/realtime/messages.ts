import type { Statistics } from '../controller/statistics.js'

/** What can be asked of the simulator's thread, and what it answers. */
export interface Answers {
  readonly statistics: Statistics
  readonly diagnostics: readonly string[]
  readonly 'reset function': undefined
  readonly 'reset bus': undefined
}

export interface Question {
  readonly id: number
  readonly ask: keyof Answers
}

/** Something has happened, and the host wants to be told by a message. */
export const ACTIVE = 'active'

export type Answer = 'ready' | typeof ACTIVE | { readonly id: number; readonly value: Answers[keyof Answers] }
