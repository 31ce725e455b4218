/**
 * Returns the error that occurred first. If closing a resource of `await using` fails after the block failed, the
 * language reports the second failure, and keeps the first in `suppressed` (SuppressedError, which Node.js 20 lacks).
 */
export function firstFailure(error: unknown): unknown {
  return error instanceof Error && error.name === 'SuppressedError' && 'suppressed' in error
    ? firstFailure(error.suppressed)
    : error
}
