/** Why an operation ended, as far as a caller decides by it; the CLI turns each into its own exit code. */
export type ErrorCategory =
  'failure' | 'usage' | 'not-found' | 'privilege' | 'device' | 'verification' | 'infeasible' | 'interrupted'

/** What an error says below its first line, and what it was caused by. */
export interface ErrorDetails {
  /** One decoded fact a line: registers, LBAs, positions. */
  readonly facts?: readonly string[]
  /** What to do next, without the word "Try". */
  readonly next?: string
  /** What was thrown below, if anything: `Error.cause`. */
  readonly cause?: unknown
}

/**
 * The base of every error that this family of packages throws, apart from wrong arguments, which are
 * `TypeError` and `RangeError`. The message is complete in itself: a first line that says what was attempted
 * and what happened, the facts indented below it, and what to try.
 */
export abstract class GpuNvmeError extends Error {
  /** Stable across releases: programs may compare it, messages may change. */
  abstract readonly code: `ERR_GPUNVME_${string}`
  /** What a caller may decide by, without knowing every code. */
  abstract readonly category: ErrorCategory

  /** @param headline What was attempted and what happened, on one line. */
  constructor(headline: string, { facts = [], next, cause }: ErrorDetails = {}) {
    const lines = [headline, ...facts.map((fact) => `  ${fact}`)]
    if (next !== undefined) lines.push(`  Try: ${next}`)
    super(lines.join('\n'), cause === undefined ? undefined : { cause })
    this.name = new.target.name
  }
}
