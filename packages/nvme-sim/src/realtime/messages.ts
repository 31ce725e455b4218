import type { Diagnostic } from '../controller/diagnostics.js'
import type { Statistics } from '../controller/statistics.js'

/** Requests to the simulator's thread, and their replies. */
export interface Answers {
  readonly statistics: Statistics
  readonly diagnostics: readonly Diagnostic[]
  readonly 'reset function': undefined
  readonly 'reset bus': undefined
}

export interface Question {
  readonly id: number
  readonly ask: keyof Answers
}

/** Sent when something has happened and the host has requested a message. */
export const ACTIVE = 'active'

export type Answer = 'ready' | typeof ACTIVE | { readonly id: number; readonly value: Answers[keyof Answers] }
