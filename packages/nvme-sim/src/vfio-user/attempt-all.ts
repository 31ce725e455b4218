/**
 * Runs all steps even if some fail, so that the end of a thread skips no cleanup.
 * @throws the first error of a step.
 */
export function attemptAll(steps: readonly (() => void)[]): void {
  const errors: unknown[] = []
  for (const step of steps) {
    try {
      step()
    } catch (error) {
      errors.push(error)
    }
  }
  if (errors.length > 0) throw errors[0]
}
