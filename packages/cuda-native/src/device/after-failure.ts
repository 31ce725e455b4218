/**
 * Frees resources after a failure, whose error the caller throws. Resources that cannot be freed, such as memory of a copy that
 * timed out, are freed when the GPU is closed.
 */
export function freeAfterFailure(...frees: readonly (() => void)[]): void {
  for (const free of frees) {
    try {
      free()
    } catch {
      // The first error is reported.
    }
  }
}
