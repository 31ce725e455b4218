import type { Resend } from './settle.js'

/** Counters of a controller handle since it was opened. */
export interface Counters {
  /** Commands of plans that were given to an engine, including retries and replays. */
  commands: number
  /** Bytes that these commands moved. */
  bytes: number
  /** Commands sent again after a retryable status. */
  retries: number
  /** Commands sent again after a recovery. */
  replays: number
  /** Commands without a completion before their deadline. */
  timeouts: number
  /** Completions after the deadline that still determined the outcome of their command. */
  lateCompletions: number
}

export function zeroCounters(): Counters {
  return { commands: 0, bytes: 0, retries: 0, replays: 0, timeouts: 0, lateCompletions: 0 }
}

/** Counts a command that is sent again. */
export function countResend(counters: Counters, { as }: Resend): void {
  if (as === 'retry') counters.retries++
  if (as === 'replay') counters.replays++
}
