/** What a controller handle has done since it was opened. */
export interface Counters {
  /** Commands of plans that an engine was given, retries and replays included. */
  commands: number
  /** Bytes that they moved. */
  bytes: number
  /** Commands sent again after a status that allows it. */
  retries: number
  /** Commands sent again after a recovery. */
  replays: number
  /** Commands that got no completion before their deadline. */
  timeouts: number
  /** Completions that came after it, and still told the command's fate. */
  lateCompletions: number
}

export function zeroCounters(): Counters {
  return { commands: 0, bytes: 0, retries: 0, replays: 0, timeouts: 0, lateCompletions: 0 }
}
