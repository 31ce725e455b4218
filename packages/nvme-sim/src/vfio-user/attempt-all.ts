/**
 * Takes all steps, whichever of them fail: the end of a thread leaves nothing undone that can be done.
 * @throws what the first of those that failed threw.
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
