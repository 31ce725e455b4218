/** Why an operation ended, as far as a caller may act on it. The CLI has an exit code for each. */
export type ErrorCategory =
  | 'failure'
  | 'usage'
  | 'not-found'
  | 'privilege'
  | 'device'
  | 'verification'
  | 'infeasible'
  | 'interrupted'

/** Facts, next step and cause of an error. */
export interface ErrorDetails {
  /** One decoded fact per line: registers, LBAs, positions. */
  readonly facts?: readonly string[]
  /** Next step, without the word "Try". */
  readonly next?: string | undefined
  /** The error or value that caused this error: `Error.cause`. */
  readonly cause?: unknown
}

/**
 * Base class of all errors that these packages throw, except `TypeError` and `RangeError` for invalid arguments.
 * `message` holds the headline, the facts indented below it, and a line `Try:` with the next step, so that an
 * uncaught error is complete. Programs that print errors in another form use the fields and never edit the message.
 */
export abstract class GpuNvmeError extends Error {
  /** Stable across releases. Compare codes, not messages. */
  abstract readonly code: `ERR_GPUNVME_${string}`
  /** Coarse classification, for callers that do not know every code. */
  abstract readonly category: ErrorCategory
  /** What was attempted and what happened, on one line. */
  readonly headline: string
  /** One decoded fact per line; empty if there are none. */
  readonly facts: readonly string[]
  /** Next step, without the word "Try"; undefined if there is none. */
  readonly next: string | undefined

  constructor(headline: string, { facts = [], next, cause }: ErrorDetails = {}) {
    const lines = [headline, ...facts.map((fact) => `  ${fact}`)]
    if (next !== undefined) lines.push(`  Try: ${next}`)
    super(lines.join('\n'), cause === undefined ? undefined : { cause })
    this.name = new.target.name
    this.headline = headline
    this.facts = facts
    this.next = next
  }
}
